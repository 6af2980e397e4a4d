// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.apache.spark.ui.SparkUITab;
import org.apache.spark.ui.UIUtils;
import scala.Function0;
import scala.Option;
import scala.xml.NodeSeq;
import scala.xml.Unparsed;

/**
 * Spark's header and style around a page. {@code UIUtils.headerSparkPage} takes more switches in
 * each Spark, and the class of the request is another from Spark 4 on: the method is found by name,
 * and all switches are off, which is their default.
 */
final class SparkPages {
  private static final String HEADER = "headerSparkPage";

  private static final Method METHOD =
      Arrays.stream(UIUtils.class.getMethods())
          .filter(method -> method.getName().equals(HEADER))
          .findAny()
          .orElseThrow(() -> new NoSuchMethodError("UIUtils." + HEADER));

  private SparkPages() {}

  /**
   * @param request as Spark's servlet gave it
   * @param html the content, escaped
   * @return as Spark's own pages, whose text is the page; that of another collection would not be
   */
  static NodeSeq page(Object request, SparkUITab tab, String html) {
    Function0<Object> content = () -> new Unparsed(html);
    Object[] arguments = new Object[METHOD.getParameterCount()];
    Arrays.fill(arguments, false);
    arguments[0] = request;
    arguments[1] = tab.name();
    arguments[2] = content;
    arguments[3] = tab;
    arguments[4] = Option.empty();
    try {
      return (NodeSeq) METHOD.invoke(null, arguments);
    } catch (InvocationTargetException e) {
      throw new IllegalStateException("Spark's header: " + e.getCause(), e.getCause());
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }
}
