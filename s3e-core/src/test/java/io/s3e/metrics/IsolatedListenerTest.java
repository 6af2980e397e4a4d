// SPDX-License-Identifier: Apache-2.0
package io.s3e.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.s3e.testing.Unsayable;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class IsolatedListenerTest {

  @Test
  void everyEventIsPassedOnAndNoExceptionComesBack() throws Exception {
    List<String> heard = new ArrayList<>();
    StreamListener throwing =
        (StreamListener)
            Proxy.newProxyInstance(
                StreamListener.class.getClassLoader(),
                new Class<?>[] {StreamListener.class},
                (proxy, method, arguments) -> {
                  if (method.getDeclaringClass() == StreamListener.class) {
                    heard.add(method.getName());
                    throw new IllegalStateException("as users' listeners do");
                  }
                  return "a listener that throws";
                });
    StreamListener isolated = IsolatedListener.of(throwing);
    List<String> events = new ArrayList<>();
    for (Method event : StreamListener.class.getMethods()) {
      Object[] arguments =
          Arrays.stream(event.getParameterTypes()).map(IsolatedListenerTest::any).toArray();
      event.invoke(isolated, arguments);
      events.add(event.getName());
    }
    assertThat(heard).hasSizeGreaterThan(5).isEqualTo(events);
  }

  private static Object any(Class<?> type) {
    if (type == long.class) {
      return 1L;
    }
    if (type == int.class) {
      return 1;
    }
    if (type.isEnum()) {
      return type.getEnumConstants()[0];
    }
    return type == boolean.class ? false : new IllegalStateException("retried");
  }

  @Test
  void whatALogCannotPrintComesBackAsLittle() {
    StreamListener throwing =
        new StreamListener() {
          @Override
          public void onRetry(Exception failure) {
            throw new Unsayable();
          }
        };
    StreamListener isolated = IsolatedListener.of(throwing);
    assertThatCode(() -> isolated.onRetry(new IOException())).doesNotThrowAnyException();
    assertThatCode(() -> isolated.onRetry(new IOException())).doesNotThrowAnyException();
  }
}
