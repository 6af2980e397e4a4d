package io.s3e.client.aws;

import java.lang.reflect.Method;
import software.amazon.awssdk.services.s3.S3BaseClientBuilder;
import software.amazon.awssdk.services.s3.S3Configuration;

/**
 * Turns off the validation of response checksums. A block range has no checksum of its own in S3,
 * and asking for one makes some stores send the whole object's. By reflection where the SDK has the
 * setting of its own for it (2.30 and later), which must not be combined with the older one.
 */
@SuppressWarnings("deprecation") // The older setting is for older SDKs.
final class ChecksumsWhenRequired {
  private static final String TYPE =
      "software.amazon.awssdk.core.checksums.ResponseChecksumValidation";

  private ChecksumsWhenRequired() {}

  static void applyTo(S3BaseClientBuilder<?, ?> builder) {
    Class<?> type;
    Method setter;
    try {
      type = Class.forName(TYPE, true, ChecksumsWhenRequired.class.getClassLoader());
      setter = S3BaseClientBuilder.class.getMethod("responseChecksumValidation", type);
    } catch (ClassNotFoundException | NoSuchMethodException e) {
      builder.serviceConfiguration(
          S3Configuration.builder().checksumValidationEnabled(false).build());
      return;
    }
    try {
      setter.invoke(builder, type.getField("WHEN_REQUIRED").get(null));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the SDK refused its own setting " + TYPE, e);
    }
  }
}
