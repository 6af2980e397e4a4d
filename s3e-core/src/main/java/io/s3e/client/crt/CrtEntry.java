// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.client.ClientMemory;
import io.s3e.client.ObjectClient;
import io.s3e.client.Transport;
import io.s3e.client.library.CrtClients;
import io.s3e.client.library.CrtSettings;

/** The way into this package; {@link io.s3e.client.library.CrtLibrary} creates it by name. */
public final class CrtEntry implements CrtClients {
  @Override
  public ObjectClient open(CrtSettings settings, ClientMemory memory) {
    Transport.Lease<CrtTransport> lease =
        memory.lease(CrtTransport.key(settings), granted -> CrtTransport.open(settings, granted));
    try {
      return new CrtObjectClient(settings, lease);
    } catch (RuntimeException | Error e) {
      lease.close();
      throw e;
    }
  }
}
