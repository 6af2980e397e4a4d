// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import org.apache.spark.sql.execution.SparkPlan;
import scala.Option;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.List;
import scala.collection.immutable.List$;
import scala.collection.immutable.Seq;

/** A plan over one other; the part of it in which the collections of Scala 2.13 are seen. */
abstract class OneChild extends SparkPlan {
  abstract SparkPlan child();

  abstract SparkPlan over(SparkPlan child);

  @Override
  public final List<SparkPlan> children() {
    return List$.MODULE$.<SparkPlan>empty().$colon$colon(child());
  }

  @Override
  public final SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
    return over(children.head());
  }

  /** The classes of the child's columns, by which generated code reads them. */
  @Override
  public final Option<Seq<String>> vectorTypes() {
    return child().vectorTypes();
  }
}
