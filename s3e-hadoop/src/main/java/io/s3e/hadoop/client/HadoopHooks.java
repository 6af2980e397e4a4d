// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.jvm.JvmEnd;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.util.ShutdownHookManager;

/**
 * Enters the core's hook among Hadoop's, which run one after the other: behind the one that closes
 * the file systems, so that reads go on while the JVM ends.
 */
final class HadoopHooks implements JvmEnd.Hooks {
  private static final int AFTER_FILE_SYSTEMS = FileSystem.SHUTDOWN_HOOK_PRIORITY - 1;

  private HadoopHooks() {}

  /** From now on the core enters its hook here. */
  static void use() {
    JvmEnd.enterHooksBy(new HadoopHooks());
  }

  @Override
  public void enter(Runnable hook) {
    ShutdownHookManager.get().addShutdownHook(hook, AFTER_FILE_SYSTEMS);
  }

  @Override
  public void remove(Runnable hook) {
    ShutdownHookManager.get().removeShutdownHook(hook);
  }
}
