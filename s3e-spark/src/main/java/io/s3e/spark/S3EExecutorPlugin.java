package io.s3e.spark;

import io.s3e.version.Version;
import java.util.Map;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An executor's part. */
final class S3EExecutorPlugin implements ExecutorPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(S3EExecutorPlugin.class);

  @Override
  public void init(PluginContext plugin, Map<String, String> extra) {
    LOG.info("S3E {}", Version.text());
  }
}
