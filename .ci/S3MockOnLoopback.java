// SPDX-License-Identifier: Apache-2.0

import com.adobe.testing.s3mock.S3MockApplication;
import org.apache.catalina.connector.Connector;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Adobe's S3Mock, whose plain port has no property for its address, on 127.0.0.1 alone. */
public class S3MockOnLoopback {
  static class Loopback implements BeanPostProcessor {
    @Override
    public Object postProcessBeforeInitialization(Object bean, String name) {
      if (bean instanceof Connector connector
          && !connector.setProperty("address", "127.0.0.1")) {
        throw new IllegalStateException("the plain port takes no address");
      }
      return bean;
    }
  }

  public static void main(String[] args) {
    new SpringApplicationBuilder(S3MockApplication.class)
        .initializers(
            (ConfigurableApplicationContext context) ->
                context.getBeanFactory().addBeanPostProcessor(new Loopback()))
        .run(args);
  }
}
