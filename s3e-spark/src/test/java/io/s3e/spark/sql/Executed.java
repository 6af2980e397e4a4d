// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.util.QueryExecutionListener;

/** The plans that were executed, as text. */
public final class Executed implements QueryExecutionListener {
  static final List<String> PLANS = new CopyOnWriteArrayList<>();

  @Override
  public void onSuccess(String function, QueryExecution query, long nanos) {
    PLANS.add(query.executedPlan().toString());
  }

  @Override
  public void onFailure(String function, QueryExecution query, Exception failure) {}
}
