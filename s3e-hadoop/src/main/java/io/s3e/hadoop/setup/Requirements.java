// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.setup;

import io.s3e.version.Version;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The libraries that S3E needs, and whether they are there: asked before anything that refers to
 * them is loaded, so that one message tells what is missing in place of a {@link
 * NoClassDefFoundError}.
 *
 * @param hadoop the Hadoop that runs
 * @param hadoopAws S3A
 * @param sdk what S3A and S3E send requests by
 */
public record Requirements(FoundLibrary hadoop, FoundLibrary hadoopAws, FoundLibrary sdk) {
  /** What has to be there, in words for a message. */
  public static final String NEEDED =
      "Hadoop 3.3.4 to 3.3.6, or 3.4.1 or newer, hadoop-aws of exactly that version, and the AWS"
          + " SDK that hadoop-aws names: for Hadoop 3.3 com.amazonaws:aws-java-sdk-bundle, else the"
          + " one for Java 2 (software.amazon.awssdk:bundle, or its modules s3,"
          + " s3-transfer-manager, sts, apache-client and netty-nio-client)";

  private static final Pattern NUMBERS = Pattern.compile("(\\d{1,6})\\.(\\d{1,6})\\.(\\d{1,6}).*");

  /** Parts of the SDK that come in jars of their own and that S3A does not start without. */
  private static final List<String> SDK_CLASSES =
      List.of(
          "software.amazon.awssdk.core.exception.SdkException",
          "software.amazon.awssdk.http.apache.ApacheHttpClient");

  /** The same of version 1. */
  private static final String SDK_1_CORE = "com.amazonaws.SdkBaseException";

  /** S3A before Hadoop 3.3.5 names exceptions of DynamoDB, of which it has kept no other use. */
  private static final String SDK_1_DYNAMODB =
      "com.amazonaws.services.dynamodbv2.model.AmazonDynamoDBException";

  /** What there is. */
  public static Requirements found() {
    FoundLibrary hadoop = FoundLibrary.hadoopCommon();
    return new Requirements(
        hadoop,
        FoundLibrary.hadoopAws(),
        isHadoop33(hadoop.version()) ? FoundLibrary.awsSdk1() : FoundLibrary.awsSdk());
  }

  /**
   * What there is.
   *
   * @throws IOException if something is missing; names what was found and what is needed
   */
  public static Requirements check() throws IOException {
    Requirements found = found();
    found.requireAll();
    return found;
  }

  void requireAll() throws IOException {
    String problem = problem();
    if (problem != null) {
      throw new IOException(
          isS3aWhole()
              ? problem
                  + ". Until then fs.s3a.impl=org.apache.hadoop.fs.s3a.S3AFileSystem reads by S3A"
                  + " alone"
              : problem);
    }
  }

  /** What lacks, what was found and what is needed, in a line without a stop; null if all is. */
  public @Nullable String problem() {
    List<String> lacks = lacks();
    return lacks.isEmpty()
        ? null
        : "S3E "
            + Version.text()
            + " cannot read here: "
            + String.join("; ", lacks)
            + ". Found: "
            + hadoop
            + ", "
            + hadoopAws
            + ", "
            + sdk
            + ". Needed: "
            + NEEDED;
  }

  /** What is missing or too old, each in a few words; empty if nothing is. */
  public List<String> lacks() {
    List<String> lacks = new ArrayList<>(unfitVersions());
    if (!hadoopAws.isThere()) {
      lacks.add("hadoop-aws is not on the class path");
    }
    lacks.addAll(sdkLacks());
    return lacks;
  }

  /** Whether Hadoop itself is what S3E cannot run on, whatever is put beside it. */
  public boolean isHadoopTooOld() {
    Numbers running = Numbers.of(hadoop.version());
    return running != null
        && running.isBefore(Numbers.OLDEST_BY_SDK_2)
        && !isHadoop33(hadoop.version());
  }

  /** Whether S3A stands upon version 1 of the SDK, in a Hadoop that S3E reads under. */
  public boolean isHadoop33() {
    return isHadoop33(hadoop.version());
  }

  /** The same of a version of Hadoop. */
  public static boolean isHadoop33(@Nullable String version) {
    Numbers running = Numbers.of(version);
    return running != null
        && running.isBefore(Numbers.FIRST_BY_SDK_2)
        && !running.isBefore(Numbers.OLDEST_BY_SDK_1);
  }

  /** What is there in a version that does not fit, each in a few words; empty if all fits. */
  public List<String> unfitVersions() {
    List<String> unfit = new ArrayList<>();
    if (isHadoopTooOld()) {
      unfit.add("Hadoop " + hadoop.version() + " is too old");
    }
    if (isHadoopAwsAnother()) {
      unfit.add(
          "hadoop-aws " + hadoopAws.version() + " is not of Hadoop's version " + hadoop.version());
    }
    return unfit;
  }

  private boolean isHadoopAwsAnother() {
    Numbers running = Numbers.of(hadoop.version());
    Numbers aws = Numbers.of(hadoopAws.version());
    return running != null && aws != null && (aws.isBefore(running) || running.isBefore(aws));
  }

  /** Whether S3A would read without S3E; before Hadoop 3.3.4 nobody looks for its SDK. */
  private boolean isS3aWhole() {
    Numbers running = Numbers.of(hadoop.version());
    boolean needsSdk = running == null || isHadoop33() || !running.isBefore(Numbers.FIRST_BY_SDK_2);
    return hadoopAws.isThere() && !isHadoopAwsAnother() && !(needsSdk && !sdkLacks().isEmpty());
  }

  private List<String> sdkLacks() {
    List<String> lacks = new ArrayList<>();
    if (!sdk.isThere()) {
      lacks.add("the " + sdk.name() + " is not on the class path");
    } else {
      sdkClasses().stream()
          .filter(name -> FoundLibrary.place(name) == null)
          .forEach(name -> lacks.add("the " + sdk.name() + " lacks " + name));
    }
    return lacks;
  }

  private List<String> sdkClasses() {
    if (!isHadoop33()) {
      return SDK_CLASSES;
    }
    Numbers running = Numbers.of(hadoop.version());
    return running != null && running.isBefore(Numbers.FIRST_WITHOUT_DYNAMODB)
        ? List.of(SDK_1_CORE, SDK_1_DYNAMODB)
        : List.of(SDK_1_CORE);
  }

  /** The first three numbers of a version; distributors append words and numbers of their own. */
  private record Numbers(int major, int minor, int patch) {
    static final Numbers OLDEST_BY_SDK_1 = new Numbers(3, 3, 4);
    static final Numbers FIRST_WITHOUT_DYNAMODB = new Numbers(3, 3, 5);
    static final Numbers OLDEST_BY_SDK_2 = new Numbers(3, 4, 1);
    static final Numbers FIRST_BY_SDK_2 = new Numbers(3, 4, 0);

    /** Null if there is no version, or it is of another form: then nothing is concluded from it. */
    static @Nullable Numbers of(@Nullable String version) {
      Matcher numbers = NUMBERS.matcher(version == null ? "" : version);
      return numbers.matches()
          ? new Numbers(
              Integer.parseInt(numbers.group(1)),
              Integer.parseInt(numbers.group(2)),
              Integer.parseInt(numbers.group(3)))
          : null;
    }

    boolean isBefore(Numbers other) {
      if (major != other.major) {
        return major < other.major;
      }
      return minor == other.minor ? patch < other.patch : minor < other.minor;
    }
  }
}
