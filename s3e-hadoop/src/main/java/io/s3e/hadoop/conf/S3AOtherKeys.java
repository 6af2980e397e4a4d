// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import static io.s3e.hadoop.conf.S3AKey.same;
import static io.s3e.hadoop.conf.S3AKey.unused;

import io.s3e.hadoop.conf.S3AKey.Subject;
import java.util.List;

/** The keys of S3A that have nothing to do with reading; part of {@link S3AKeys#ALL}. */
final class S3AOtherKeys {
  private static final String BY_S3A = "S3A itself writes.";

  private static final Subject THREADS =
      new Subject(
          "Threads of S3A",
          same(
              "The pools with which S3A writes, copies and deletes, and opens what `openFile()` is"
                  + " told; on Hadoop 3.4.1 S3E opens it, by as many threads of its own. Reads take"
                  + " none of their threads: S3E has its own, 32 for each client that blocks.",
              "fs.s3a.threads.max",
              "fs.s3a.threads.keepalivetime",
              "fs.s3a.max.total.tasks",
              "fs.s3a.executor.capacity"),
          same("S3A limits its deletions by it.", "fs.s3a.io.rate.limit"));

  private static final Subject WRITING =
      new Subject(
          "Writing",
          same(
                  "S3A buffers there what it writes. Where neither YARN nor Spark names local"
                      + " directories, S3E's cache is there too.",
                  "fs.s3a.buffer.dir")
              .see(DiskCacheKeys.DIRECTORIES),
          same(
              BY_S3A,
              "fs.s3a.acl.default",
              "fs.s3a.checksum.generation",
              "fs.s3a.create.checksum.algorithm",
              "fs.s3a.create.conditional.enabled",
              "fs.s3a.create.header.*",
              "fs.s3a.create.multipart",
              "fs.s3a.create.performance",
              "fs.s3a.create.performance.enabled",
              "fs.s3a.create.storage.class",
              "fs.s3a.downgrade.syncable.exceptions",
              "fs.s3a.fast.upload",
              "fs.s3a.fast.upload.active.blocks",
              "fs.s3a.fast.upload.buffer",
              "fs.s3a.internal.upload.part.count.limit",
              "fs.s3a.multipart.purge",
              "fs.s3a.multipart.purge.age",
              "fs.s3a.multipart.size",
              "fs.s3a.multipart.threshold",
              "fs.s3a.multipart.uploads.enabled",
              "fs.s3a.object.content.encoding",
              "fs.s3a.optimized.copy.from.local.enabled",
              "fs.s3a.request.md5.header"),
          unused("There is one way to upload.", "fs.s3a.fast.buffer.size"));

  private static final Subject DIRECTORIES =
      new Subject(
          "Buckets, listing and deletion",
          same(
              "S3A itself lists, probes and deletes.",
              "fs.s3a.bucket.probe",
              "fs.s3a.bulk.delete.page.size",
              "fs.s3a.directory.marker.retention",
              "fs.s3a.directory.operations.purge.uploads",
              "fs.s3a.list.version",
              "fs.s3a.multiobjectdelete.enable",
              "fs.s3a.paging.maximum",
              "fs.s3a.performance.flags"));

  private static final Subject COMMITTERS =
      new Subject(
          "Committers",
          same(
              "S3A's committers are S3A's.",
              "fs.s3a.committer.abort.pending.uploads",
              "fs.s3a.committer.experimental.collect.iostatistics",
              "fs.s3a.committer.generate.uuid",
              "fs.s3a.committer.magic.cleanup.enabled",
              "fs.s3a.committer.magic.enabled",
              "fs.s3a.committer.magic.track.commits.in.memory.enabled",
              "fs.s3a.committer.name",
              "fs.s3a.committer.require.uuid",
              "fs.s3a.committer.staging.abort.pending.uploads",
              "fs.s3a.committer.staging.conflict-mode",
              "fs.s3a.committer.staging.tmp.path",
              "fs.s3a.committer.staging.unique-filenames",
              "fs.s3a.committer.summary.report.directory",
              "fs.s3a.committer.threads",
              "fs.s3a.committer.uuid",
              "fs.s3a.committer.uuid.source"));

  private static final Subject FORMER =
      new Subject(
          "Former features",
          same(
              "S3A refuses to start if it names a store in DynamoDB or one that it does not know.",
              "fs.s3a.metadatastore.impl"),
          unused(
              "S3Guard is gone.",
              "fs.s3a.authoritative.path",
              "fs.s3a.metadatastore.authoritative",
              "fs.s3a.metadatastore.fail.on.write.error",
              "fs.s3a.metadatastore.metadata.ttl",
              "fs.s3a.s3guard.cli.prune.age",
              "fs.s3a.s3guard.consistency.retry.interval",
              "fs.s3a.s3guard.consistency.retry.limit",
              "fs.s3a.s3guard.ddb.background.sleep",
              "fs.s3a.s3guard.ddb.max.retries",
              "fs.s3a.s3guard.ddb.region",
              "fs.s3a.s3guard.ddb.table",
              "fs.s3a.s3guard.ddb.table.capacity.read",
              "fs.s3a.s3guard.ddb.table.capacity.write",
              "fs.s3a.s3guard.ddb.table.create",
              "fs.s3a.s3guard.ddb.table.sse.cmk",
              "fs.s3a.s3guard.ddb.table.sse.enabled",
              "fs.s3a.s3guard.ddb.table.tag.*",
              "fs.s3a.s3guard.ddb.throttle.retry.interval",
              "fs.s3a.s3guard.disabled.warn.level",
              "fs.s3a.s3guard.local.max_records",
              "fs.s3a.s3guard.local.ttl"),
          same("S3A refuses to open a file that must be read by it.", "fs.s3a.select.sql"),
          unused(
              "S3 Select is gone.",
              "fs.s3a.select.enabled",
              "fs.s3a.select.errors.include.sql",
              "fs.s3a.select.input.compression",
              "fs.s3a.select.input.csv.comment.marker",
              "fs.s3a.select.input.csv.field.delimiter",
              "fs.s3a.select.input.csv.header",
              "fs.s3a.select.input.csv.quote.character",
              "fs.s3a.select.input.csv.quote.escape.character",
              "fs.s3a.select.input.csv.record.delimiter",
              "fs.s3a.select.input.format",
              "fs.s3a.select.output.csv.field.delimiter",
              "fs.s3a.select.output.csv.quote.character",
              "fs.s3a.select.output.csv.quote.escape.character",
              "fs.s3a.select.output.csv.quote.fields",
              "fs.s3a.select.output.csv.record.delimiter",
              "fs.s3a.select.output.format"),
          unused(
              "Only S3A's own tests look at them.",
              "fs.s3a.failinject.throttle.probability",
              "fs.s3a.failinject.inconsistency.key.substring",
              "fs.s3a.failinject.inconsistency.msec",
              "fs.s3a.failinject.inconsistency.probability"));

  static final List<Subject> ALL = List.of(THREADS, WRITING, DIRECTORIES, COMMITTERS, FORMER);

  private S3AOtherKeys() {}
}
