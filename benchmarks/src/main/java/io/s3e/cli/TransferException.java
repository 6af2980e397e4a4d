// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.block.ObjectRef;
import java.io.IOException;

/** Says of which object a failure is. */
final class TransferException extends IOException {
  private static final long serialVersionUID = 1L;

  TransferException(ObjectRef object, Exception cause) {
    super(object.toString(), cause);
  }
}
