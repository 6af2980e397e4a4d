// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A client before another one: each call goes on as it came, unless it is overridden. */
public interface ForwardingClient extends ObjectClient {

  /** The client behind; closed with this client. */
  ObjectClient client();

  @Override
  default String name() {
    return client().name();
  }

  @Override
  default ClientLimits limits() {
    return client().limits();
  }

  @Override
  default ObjectHead head(HeadRequest request) throws IOException {
    return client().head(request);
  }

  @Override
  default Exchange get(GetRequest request, ResponseHandler handler) {
    return client().get(request, handler);
  }

  @Override
  default void remedy(Remedy remedy, @Nullable StoreAnswer answer, Runnable then) {
    client().remedy(remedy, answer, then);
  }

  @Override
  default @Nullable Object credentials() {
    return client().credentials();
  }

  @Override
  default void close() {
    client().close();
  }
}
