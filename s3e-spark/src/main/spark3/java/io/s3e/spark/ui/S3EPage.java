// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import javax.servlet.http.HttpServletRequest;
import org.apache.spark.ui.UIUtils;
import org.apache.spark.ui.WebUIPage;
import scala.xml.NodeSeq;

/** The only page of the tab, by the servlet API of Spark 3. */
final class S3EPage extends WebUIPage {
  private final S3ETab tab;

  S3EPage(S3ETab tab) {
    super("");
    this.tab = tab;
  }

  @Override
  public NodeSeq render(HttpServletRequest request) {
    String uiRoot = UIUtils.prependBaseUri(request, tab.basePath(), "");
    return SparkPages.page(request, tab, tab.html(uiRoot));
  }
}
