// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import io.s3e.explain.Finding.Kind;
import io.s3e.explain.Finding.Scope;
import io.s3e.hadoop.cost.ReadAdvice;
import io.s3e.hadoop.cost.ReadWork;
import io.s3e.hadoop.cost.Saving;
import io.s3e.hadoop.cost.Sizes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** What S3 was asked more often than needed, and where it refused. */
final class StoreRule implements Rule {
  private static final long LITTLE_BYTES = 8L << 20;

  /**
   * S3E waits 0.57 times as long as S3A's classic stream in four queries of TPC-H on Spark 4.1, as
   * {@code measure tpch} has told; docs/BENCHMARKS.md has all queries.
   */
  private static final double LESS_BLOCKED = 0.43;

  private static final String BUDGET = "spark.s3e.memory.budget";
  private static final String S3A = "s3a://";

  @Override
  public List<Finding> find(Facts facts) {
    List<Finding> findings = new ArrayList<>();
    NavigableMap<Integer, Long> brought = brought(facts);
    for (TableReads table : facts.tables()) {
      ReadWork work = work(List.of(table));
      ReadAdvice.throttled(work)
          .map(advice -> Finding.of(Kind.THROTTLED, Scope.TABLE, table.table(), advice))
          .ifPresent(findings::add);
      ReadAdvice.wastedPrefetch(work)
          .map(advice -> Finding.of(Kind.WASTED_PREFETCH, Scope.TABLE, table.table(), advice))
          .ifPresent(findings::add);
      readAgain(table, brought, findings);
    }
    memory(facts, findings);
    plainS3a(facts, findings);
    return findings;
  }

  /** The same columns of the same files, by another query: what a cache is there for. */
  private static void readAgain(
      TableReads table, NavigableMap<Integer, Long> brought, List<Finding> findings) {
    Map<String, List<TableReads.Run>> same = new LinkedHashMap<>();
    for (TableReads.Run run : table.runs()) {
      String what = run.scan().map(TableScan::whatIsRead).orElse("");
      same.computeIfAbsent(what, key -> new ArrayList<>()).add(run);
    }
    long again = 0;
    long waited = 0;
    long requests = 0;
    long distance = 0;
    int times = 0;
    for (List<TableReads.Run> runs : same.values()) {
      for (int i = 1; i < runs.size(); i++) {
        TableReads.Run run = runs.get(i);
        again += fromS3(run);
        waited += run.waitedMillis();
        requests += run.requests() - run.files();
        distance = Math.max(distance, distance(brought, runs.get(i - 1), run));
        times++;
      }
    }
    long whole = table.runs().stream().mapToLong(StoreRule::fromS3).sum();
    if (again < LITTLE_BYTES || again < whole / 4) {
      return;
    }
    findings.add(
        new Finding(
            Kind.READ_AGAIN,
            Scope.TABLE,
            table.table(),
            "the same columns came from S3 again "
                + (times == 1 ? "once" : times + " times")
                + ": "
                + Sizes.bytes(again)
                + " of "
                + Sizes.bytes(whole)
                + "; up to "
                + Sizes.bytes(distance)
                + " were read from one time to the next",
            (table.isReadByS3e()
                    ? "give S3E a cache on local disk of more than "
                    : "read by S3E with a cache on local disk of more than ")
                + Sizes.bytes(distance)
                + " over all hosts (spark.s3e.cache.capacity)",
            new Saving(waited, requests)));
  }

  private static long fromS3(TableReads.Run run) {
    if (run.stage().isReadByS3e()) {
      return run.s3e().bytesFromS3();
    }
    return run.scan().isPresent() ? run.fileBytes() : run.readBytes();
  }

  /** What stages brought up to each number, that one with it. */
  private static NavigableMap<Integer, Long> brought(Facts facts) {
    NavigableMap<Integer, Long> brought = new TreeMap<>();
    facts.tables().stream()
        .flatMap(table -> table.runs().stream())
        .forEach(run -> brought.merge(run.stage().id, fromS3(run), Long::sum));
    long sum = 0;
    for (Map.Entry<Integer, Long> stage : brought.entrySet()) {
      sum += stage.getValue();
      stage.setValue(sum);
    }
    return brought;
  }

  /** What all stages between two reads brought, the first of them with it. */
  private static long distance(
      NavigableMap<Integer, Long> brought, TableReads.Run first, TableReads.Run again) {
    return Math.max(0, before(brought, again) - before(brought, first));
  }

  private static long before(NavigableMap<Integer, Long> brought, TableReads.Run run) {
    Map.Entry<Integer, Long> stage = brought.lowerEntry(run.stage().id);
    return stage == null ? 0 : stage.getValue();
  }

  private static void memory(Facts facts, List<Finding> findings) {
    Application application = facts.application();
    if (!application.isReadByS3e()) {
      return;
    }
    long budget =
        application.bytes(BUDGET, application.bytes("spark.hadoop.fs.s3a.s3e.memory.budget", 0));
    ReadAdvice.Memory memory = new ReadAdvice.Memory(budget, application.slotsOfExecutor());
    ReadAdvice.memoryBudget(work(facts.tables()), memory)
        .map(advice -> Finding.of(Kind.MEMORY_BUDGET, Scope.APPLICATION, application.id, advice))
        .ifPresent(findings::add);
  }

  private static ReadWork work(List<TableReads> tables) {
    S3eReads reads = tables.stream().map(TableReads::s3e).reduce(S3eReads.NONE, S3eReads::plus);
    return new ReadWork(
        reads.gets(),
        tables.stream().mapToLong(TableReads::files).sum(),
        reads.throttled(),
        reads.bytesFromS3(),
        reads.prefetchWastedBytes(),
        tables.stream().mapToLong(TableReads::runMillis).sum(),
        tables.stream().mapToLong(TableReads::waitedMillis).sum());
  }

  private static void plainS3a(Facts facts, List<Finding> findings) {
    List<TableReads> tables =
        facts.tables().stream()
            .filter(table -> table.table().startsWith(S3A) && !table.isReadByS3e())
            .toList();
    if (tables.isEmpty() || facts.application().isReadByS3e()) {
      return;
    }
    long run = tables.stream().mapToLong(TableReads::runMillis).sum();
    long waited = tables.stream().mapToLong(TableReads::waitedMillis).sum();
    findings.add(
        new Finding(
            Kind.PLAIN_S3A,
            Scope.APPLICATION,
            facts.application().id,
            "no event of S3E in the log; tasks that read s3a:// neither computed nor shuffled for "
                + Sizes.seconds(waited)
                + " of "
                + Sizes.seconds(run),
            "read by S3E (docs/INSTALL.md), which waits 0.57 times as long as S3A's classic stream"
                + " in four queries of TPC-H; if its keys are set already, add its plugin"
                + " (docs/SPARK.md), which writes the events that this looks at",
            new Saving(Math.round(waited * LESS_BLOCKED), 0)));
  }
}
