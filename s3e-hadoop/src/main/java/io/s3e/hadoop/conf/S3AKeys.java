// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import static io.s3e.hadoop.conf.S3AKey.byS3AsClient;
import static io.s3e.hadoop.conf.S3AKey.byS3AsStream;
import static io.s3e.hadoop.conf.S3AKey.mapped;
import static io.s3e.hadoop.conf.S3AKey.noEffect;
import static io.s3e.hadoop.conf.S3AKey.overridden;
import static io.s3e.hadoop.conf.S3AKey.same;
import static io.s3e.hadoop.conf.S3AKey.unused;

import io.s3e.hadoop.conf.S3AKey.Subject;
import java.util.List;
import java.util.stream.Stream;

/**
 * Every key of hadoop-aws 3.4.1 to 3.5.0 that begins with {@code fs.s3a.}, and its meaning for the
 * reads of S3E: the keys that have to do with reading stand here, the others in {@link
 * S3AOtherKeys}. docs/S3A-KEYS.md is generated from {@link #ALL} by S3AKeysReference; a test
 * compares it with the constants of the Hadoop that runs.
 */
final class S3AKeys {
  private static final Subject SWITCH =
      new Subject(
          "Switching S3E on",
          same("`io.s3e.hadoop.S3EFileSystem` switches S3E on.", "fs.s3a.impl")
              .see(S3EKeys.ENABLED),
          same(
              "File systems that are not shared read through the JVM's one engine as well.",
              "fs.s3a.impl.disable.cache"),
          same(
              "Any key for one bucket, S3E's own too: `fs.s3a.bucket.NAME.s3e.read.timeout`. A"
                  + " setting that is marked *One for the JVM* applies only if that bucket is read"
                  + " first.",
              "fs.s3a.bucket.NAME.*"),
          overridden(
              "S3E plugs its stream in by these (Hadoop 3.4.2 and later). They keep their meaning"
                  + " where S3E is disabled.",
              "fs.s3a.input.stream.type",
              "fs.s3a.input.stream.custom.factory",
              "fs.s3a.prefetch.enabled"));

  private static final Subject PATTERN =
      new Subject(
          "How streams read",
          same(
              "The read policy of streams whose opener names none.",
              "fs.s3a.experimental.input.fadvise"),
          same(
              "The least that a stream fetches ahead of a reader; `setReadahead()` changes it.",
              "fs.s3a.readahead.range"),
          same(
                  "Streams tell these to callers that plan vectored reads. S3E itself joins ranges"
                      + " that are no farther apart than 128 KiB, and 256 KiB where little of what"
                      + " it so fetches lies between.",
                  "fs.s3a.vectored.read.min.seek.size",
                  "fs.s3a.vectored.read.max.merged.size")
              .see(S3EKeys.REQUEST_SIZE),
          noEffect(
              "All ranges of a vectored read are asked for at once, as far as memory goes.",
              "fs.s3a.vectored.active.ranged.reads"),
          noEffect(
              "S3E asks for what it wants and reads it to its end, so that there is nothing to"
                  + " drain.",
              "fs.s3a.input.async.drain.threshold"),
          noEffect(
                  "S3A's prefetching stream is not used; S3E has blocks, windows and a budget of"
                      + " its own.",
                  "fs.s3a.prefetch.block.size",
                  "fs.s3a.prefetch.block.count",
                  "fs.s3a.prefetch.max.blocks.count")
              .see(S3EKeys.REQUEST_SIZE, S3EKeys.PREFETCH_WINDOW_MAX, S3EKeys.MEMORY_BUDGET),
          noEffect("S3A's analytics stream is not used.", "fs.s3a.analytics.accelerator.*"),
          same(
                  "Size of the blocks that file statuses report, and so of the splits of jobs."
                      + " Blocks in S3E's memory have another.",
                  "fs.s3a.block.size")
              .see(S3EKeys.BLOCK_SIZE),
          same(
                  "A GET asks for the revision that was opened and refuses another, as S3A's stream"
                      + " does. What S3 has allowed this file system to read of that revision"
                      + " serves from memory or disk for 15 minutes without asking, also where the"
                      + " object has been replaced or deleted since; with `access.age.max` 0 each"
                      + " opening sends a GET first.",
                  "fs.s3a.change.detection.mode",
                  "fs.s3a.change.detection.source",
                  "fs.s3a.change.detection.version.required")
              .see(S3EKeys.ACCESS_AGE_MAX),
          noEffect(
              "S3 has checksums of whole objects, and S3E reads ranges. S3E checks length, range"
                  + " and ETag of each answer.",
              "fs.s3a.checksum.validation"),
          same("The result of `getFileChecksum()`.", "fs.s3a.etag.checksum.enabled"));

  private static final Subject TIME_OUTS =
      new Subject(
          "Connections and time-outs",
          same(
              "The longest wait for a connection. 5 s for S3E's own client where no user has set"
                  + " it.",
              "fs.s3a.connection.establish.timeout"),
          mapped(
              "A GET may be silent for so long, 10 s for S3E's own client where no user has set it;"
                  + " a read waits twice that at least, so that the GET is sent again.",
              "fs.s3a.connection.timeout"),
          mapped(
              "A read waits that long at least. It makes reads no shorter: S3A sends a request that"
                  + " ran into it again, and bounds uploads by it.",
              "fs.s3a.connection.request.timeout"),
          same(
              "Below 64 it lowers the limit of S3E's own client, which shares its connections among"
                  + " all streams; S3A wants one for each open stream.",
              "fs.s3a.connection.maximum"),
          noEffect(
              "GETs of S3E's own client do not queue for a connection as S3A's do: a GET that"
                  + " gets none is silent.",
              "fs.s3a.connection.acquisition.timeout"),
          noEffect(
              "S3E's own client keeps its connections while they work; one that the store has"
                  + " closed is replaced, and its GET sent again.",
              "fs.s3a.connection.ttl",
              "fs.s3a.connection.idle.time",
              "fs.s3a.connection.keepalive"),
          noEffect(
              "It chooses the TLS engine of S3A's client in the JVM. The client `crt` has one of"
                  + " its own.",
              "fs.s3a.ssl.channel.mode"),
          same("Uploads only.", "fs.s3a.connection.expect.continue"),
          same("Uploads only.", "fs.s3a.connection.part.upload.timeout"),
          unused(
              "S3A sets no socket buffers.",
              "fs.s3a.socket.send.buffer",
              "fs.s3a.socket.recv.buffer"));

  private static final Subject RETRIES =
      new Subject(
          "Retries",
          mapped(
              "S3E's own client has patience in time. How long S3A would wait for one call by"
                  + " these is how long a read of S3E's waits without progress, at most 8"
                  + " minutes by default. The calls of S3A's client follow them as ever.",
              "fs.s3a.retry.limit",
              "fs.s3a.retry.interval",
              "fs.s3a.retry.throttle.limit",
              "fs.s3a.retry.throttle.interval",
              "fs.s3a.attempts.maximum"),
          noEffect(
              "S3E's own client always sends a GET again after 500, 502, 503 and 504, never after"
                  + " 501.",
              "fs.s3a.retry.http.5xx.errors"),
          unused("It belonged to version 1 of the SDK.", "fs.s3a.experimental.aws.s3.throttling"));

  private static final Subject ADDRESSING =
      new Subject(
          "Endpoint, region and network",
          same(
              "S3E asks S3A's client what it was given.",
              "fs.s3a.endpoint",
              "fs.s3a.endpoint.region",
              "fs.s3a.path.style.access",
              "fs.s3a.connection.ssl.enabled"),
          same(
              "Where S3A's client follows a bucket into another region, S3E's follows it into the"
                  + " region that the store names.",
              "fs.s3a.cross.region.access.enabled"),
          byS3AsClient("Where it is true.", "fs.s3a.endpoint.fips"),
          byS3AsClient(
              "Where S3A's client takes a proxy to the bucket's host, be it by these keys, by"
                  + " system properties or by the environment.",
              "fs.s3a.proxy.host",
              "fs.s3a.proxy.port",
              "fs.s3a.proxy.ssl.enabled",
              "fs.s3a.proxy.username",
              "fs.s3a.proxy.password",
              "fs.s3a.proxy.domain",
              "fs.s3a.proxy.workstation"),
          same(
              "S3E reads where S3A's client does. Access points of Outposts, Object Lambda and S3"
                  + " Express, their aliases too, are read by S3A's client; on Hadoop 3.3 S3A's own"
                  + " stream reads all access points. What Object Lambda answers serves no other"
                  + " file system, and nothing of it goes to local disk.",
              "fs.s3a.bucket.NAME.accesspoint.arn"),
          same("S3A refuses buckets without an access point.", "fs.s3a.accesspoint.required"),
          byS3AsClient(
              "Where it is false. Where it is true, S3E's own client reads, and S3A's makes its"
                  + " sessions.",
              "fs.s3a.s3express.create.session"),
          byS3AsClient("Where it is not S3A's own factory.", "fs.s3a.s3.client.factory.impl"),
          same(
              "All requests carry them: custom headers from Hadoop 3.5.0 on.",
              "fs.s3a.user.agent.prefix",
              "fs.s3a.requester.pays.enabled",
              "fs.s3a.client.s3.custom.headers"));

  private static final Subject ENCRYPTION =
      new Subject(
          "Encryption",
          same(
                  "SSE-S3, SSE-KMS and DSSE-KMS are the store's business: it answers in the clear,"
                      + " and so what was read lies on local disk, unless `cache.encryption` is"
                      + " `true` or `cache.mode` is `memory`. For SSE-C every GET carries the key,"
                      + " and nothing goes to local disk. For CSE-KMS and CSE-CUSTOM S3A's own"
                      + " stream reads.",
                  "fs.s3a.encryption.algorithm",
                  "fs.s3a.encryption.key",
                  "fs.s3a.server-side-encryption-algorithm",
                  "fs.s3a.server-side-encryption.key")
              .see(DiskCacheKeys.ENCRYPTION, DiskCacheKeys.MODE),
          byS3AsStream(
              "They belong to client-side encryption.",
              "fs.s3a.encryption.cse.custom.keyring.class.name",
              "fs.s3a.encryption.cse.kms.region",
              "fs.s3a.encryption.cse.v1.compatibility.enabled"),
          same("Writing with KMS only.", "fs.s3a.encryption.context"));

  private static final Subject CREDENTIALS =
      new Subject(
          "Credentials and signing",
          same(
              "S3E signs with the credentials that S3A has made of these, and shares their"
                  + " renewal.",
              "fs.s3a.access.key",
              "fs.s3a.secret.key",
              "fs.s3a.session.token",
              "fs.s3a.aws.credentials.provider",
              "fs.s3a.aws.credentials.provider.mapping",
              "fs.s3a.auth.profile.file",
              "fs.s3a.auth.profile.name",
              "fs.s3a.assumed.role.arn",
              "fs.s3a.assumed.role.credentials.provider",
              "fs.s3a.assumed.role.external.id",
              "fs.s3a.assumed.role.policy",
              "fs.s3a.assumed.role.session.duration",
              "fs.s3a.assumed.role.session.name",
              "fs.s3a.assumed.role.sts.endpoint",
              "fs.s3a.assumed.role.sts.endpoint.region",
              "fs.s3a.delegation.token.binding",
              "fs.s3a.client.sts.custom.headers",
              "fs.s3a.sts.signing-algorithm"),
          same(
                  "Secrets are looked up there, `" + DiskCacheKeys.SECRET + "` too.",
                  "fs.s3a.security.credential.provider.path")
              .see(DiskCacheKeys.ENCRYPTION),
          byS3AsClient(
              "Where a signer of the user's own is set or switched on.",
              "fs.s3a.signing-algorithm",
              "fs.s3a.s3.signing-algorithm",
              "fs.s3a.custom.signers",
              "fs.s3a.http.signer.enabled",
              "fs.s3a.http.signer.class"),
          byS3AsClient(
              "Where S3 Access Grants are switched on; the second key belongs to them.",
              "fs.s3a.access.grants.enabled",
              "fs.s3a.access.grants.fallback.to.iam"),
          unused("There is no DynamoDB any more.", "fs.s3a.ddbsigning-algorithm"),
          same(
              "Classes named in the configuration, those of credentials among them.",
              "fs.s3a.classloader.isolation"));

  private static final Subject AUDIT =
      new Subject(
          "Audit",
          same(
              "GETs of S3E carry the audit span of the stream that caused them, as the `Referer`"
                  + " header that the span makes; not on Hadoop 3.3.",
              "fs.s3a.audit.enabled",
              "fs.s3a.audit.referrer.enabled",
              "fs.s3a.audit.referrer.filter",
              "fs.s3a.audit.reject.out.of.span.operations"),
          byS3AsClient(
              "Where it is not one of Hadoop's own: it may refuse requests, or hear of their ends.",
              "fs.s3a.audit.service.classname"),
          byS3AsClient(
              "Interceptors see requests of the SDK's clients only.",
              "fs.s3a.audit.execution.interceptors",
              "fs.s3a.audit.request.handlers"));

  /** In the order of the documentation. */
  static final List<Subject> ALL =
      Stream.concat(
              Stream.of(
                  SWITCH, PATTERN, TIME_OUTS, RETRIES, ADDRESSING, ENCRYPTION, CREDENTIALS, AUDIT),
              S3AOtherKeys.ALL.stream())
          .toList();

  private S3AKeys() {}
}
