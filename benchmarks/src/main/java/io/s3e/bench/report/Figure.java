// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.report;

import io.s3e.bench.Measurement;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The figures of every run, with their names and formats. */
@SuppressWarnings("ImmutableEnumChecker") // The functions are methods without state.
enum Figure {
  RATE(
      "megabytesPerSecond",
      "MB/s",
      0,
      Measurement::megabytesPerSecond,
      "bytes that the application used a second (10^6), from open to close, of a raw client from"
          + " the first request to the last byte; comparison of every byte included. In cold: 64"
          + " MiB; of manyfs: of all at once; of neighbour: of the disturbed scan."),
  FIRST_BYTE(
      "firstByteMillis",
      "1st ms",
      0,
      Measurement::firstByteMillis,
      "ms from the open until the first byte is there, in a JVM whose file system has read"
          + " nothing."),
  FIRST_SCAN(
      "firstScanMegabytesPerSecond",
      "first",
      0,
      Measurement::firstScanMegabytesPerSecond,
      "MB/s of the first of several file systems, the others not open yet."),
  MEDIAN_SCAN(
      "medianScanToFirst",
      "/first",
      2,
      Measurement::medianScanToFirst,
      "MB/s of the median file system's scan, one after the other, for each MB/s of the first."),
  LEAST_SCAN(
      "leastScanToFirst",
      "least",
      2,
      Measurement::leastScanToFirst,
      "MB/s of the slowest of these scans for each MB/s of the first."),
  TOGETHER(
      "togetherToFirst",
      "all/first",
      2,
      Measurement::togetherToFirst,
      "MB/s of all file systems at once for each MB/s of the first alone."),
  SCAN_ALONE(
      "scanAloneMegabytesPerSecond",
      "alone",
      0,
      Measurement::scanAloneMegabytesPerSecond,
      "MB/s of the scan alone, before it is disturbed."),
  SCAN_TO_ALONE(
      "scanToAlone",
      "/alone",
      2,
      Measurement::scanToAlone,
      "MB/s of the disturbed scan for each MB/s alone."),
  P50_ALONE(
      "p50AloneMillis",
      "p50 alone",
      1,
      Measurement::p50AloneMillis,
      "median ms of a positioned read of 64 KiB alone."),
  P50_TO_ALONE(
      "p50ToAlone",
      "p50/alone",
      2,
      Measurement::p50ToAlone,
      "median ms of a disturbed one for each ms alone."),
  P99_ALONE(
      "p99AloneMillis",
      "p99 alone",
      1,
      Measurement::p99AloneMillis,
      "99th percentile of ms of a positioned read of 64 KiB alone."),
  P99_TO_ALONE(
      "p99ToAlone",
      "p99/alone",
      2,
      Measurement::p99ToAlone,
      "99th percentile of a disturbed one for each ms alone."),
  AFTER_FIRST_GROUP(
      "afterFirstGroupMegabytesPerSecond",
      "later",
      0,
      Measurement::afterFirstGroupMegabytesPerSecond,
      "MB/s of the row groups after the first; no more than the consumer's rate."),
  BLOCKED(
      "blockedMillis",
      "blocked",
      0,
      Measurement::blockedMillis,
      "ms of the run in calls that open and read files, and in waits for vectored reads, of all"
          + " threads together; without decoding and the consumer."),
  BLOCKED_PER_GROUP(
      "blockedMillisPerGroup",
      "a group",
      1,
      Measurement::blockedMillisPerGroup,
      "the same for each row group, or stripe, that was read."),
  SECONDS(
      "seconds",
      "s",
      2,
      Measurement::seconds,
      "seconds from open to close; of several JVMs, those of the slowest."),
  P50(
      "p50Millis",
      "p50 ms",
      1,
      Measurement::p50Millis,
      "median time of one call of the application; of a raw client, of one range."),
  P99("p99Millis", "p99 ms", 1, Measurement::p99Millis, "99th percentile of the same."),
  GETS("gets", "GETs", 0, Measurement::gets, "GETs of objects that the server counted."),
  GETS_PER_GIGABYTE(
      "getsPerGigabyte",
      "GETs/GB",
      0,
      Measurement::getsPerGigabyte,
      "GETs of objects for each GB (10^9) used."),
  HEADS("heads", "HEADs", 0, Measurement::heads, "HEADs of objects that the server counted."),
  DOLLARS(
      "dollarsPerTerabyte",
      "USD/TB",
      2,
      Measurement::dollarsPerTerabyte,
      "price of each TB (10^12) used: GETs and HEADs at 0.0004 USD for 1,000 (S3 Standard,"
          + " us-east-1), and CPU and blocked at 0.05 USD an hour."),
  REQUEST_DOLLARS(
      "requestDollarsPerTerabyte",
      "req/TB",
      2,
      Measurement::requestDollarsPerTerabyte,
      "the part of it that is for GETs and HEADs."),
  WAITS(
      "waits",
      "waits",
      0,
      Measurement::waits,
      "calls that took longer than half the time to first byte (5 ms where there is none), and so"
          + " waited for the store; of a raw client every range does."),
  FETCHED(
      "fetchedPerUsed",
      "f/used",
      2,
      Measurement::fetchedPerUsed,
      "bytes of bodies that the server sent, for each byte used."),
  FETCHED_MEGABYTES(
      "fetchedMegabytes",
      "MB sent",
      1,
      Measurement::fetchedMegabytes,
      "MB (10^6) of bodies that the server sent."),
  FETCHED_PER_OBJECT(
      "fetchedPerObject",
      "f/object",
      2,
      Measurement::fetchedPerObject,
      "bytes of bodies that the server sent to all JVMs together, for each byte that one of them"
          + " used: 1 if what one has fetched serves them all."),
  CLIENT_CPU(
      "clientCpuSecondsPerGigabyte",
      "CPU",
      2,
      Measurement::clientCpuPerGigabyte,
      "processor seconds of the engine's JVM for each GB (10^9) used, without comparing bytes and"
          + " watching memory."),
  CPU_SECONDS(
      "clientCpuSeconds",
      "CPU s",
      2,
      Measurement::clientCpuSeconds,
      "processor seconds of the engine's JVM in the whole run, from the open on."),
  SERVER_CPU(
      "serverCpuSecondsPerGigabyte",
      "server CPU",
      2,
      Measurement::serverCpuPerGigabyte,
      "processor seconds of the server's process for each GB used."),
  ALLOCATED(
      "allocatedMegabytesPerGigabyte",
      "alloc",
      1,
      Measurement::allocatedMegabytesPerGigabyte,
      "MB allocated on the heap for each GB used, by all threads, without the buffers that the"
          + " application reads into (with them in parquet); some 100 bytes a call are"
          + " the rig's."),
  PEAK(
      "peakMebibytes",
      "MiB",
      0,
      Measurement::peakMebibytes,
      "most memory of the engine's JVM in MiB: heap in use (garbage included), direct buffers,"
          + " classes and code, native."),
  HEAP("peakHeapMebibytes", "heap MiB", 0, Measurement::peakHeapMebibytes, "most heap in use."),
  DIRECT(
      "peakDirectMebibytes",
      "direct MiB",
      0,
      Measurement::peakDirectMebibytes,
      "most direct buffers, by the JVM's count."),
  NATIVE(
      "nativeGrowthMebibytes",
      "native MiB",
      0,
      Measurement::nativeGrowthMebibytes,
      "most native memory (anonymous resident memory less committed heap, classes, code and direct"
          + " buffers), above what the JVM had before it read.");

  /** Digits of a number that would be zeros with its figure's decimals. */
  private static final int SMALL_DIGITS = 2;

  private final String key;
  private final String head;
  private final int decimals;
  private final ToDoubleFunction<Measurement> value;
  private final String meaning;

  Figure(
      String key, String head, int decimals, ToDoubleFunction<Measurement> value, String meaning) {
    this.key = key;
    this.head = head;
    this.decimals = decimals;
    this.value = value;
    this.meaning = meaning;
  }

  /** The name in results.json. */
  String key() {
    return key;
  }

  /** The head of its column. */
  String head() {
    return head;
  }

  ToDoubleFunction<Measurement> value() {
    return value;
  }

  /** A sentence for the foot of tables. */
  String meaning() {
    return meaning;
  }

  /** As tables show it. */
  String text(double number) {
    return number > 0 && number < Math.pow(10, -decimals)
        ? new BigDecimal(number).round(new MathContext(SMALL_DIGITS)).toPlainString()
        : number(number, decimals);
  }

  /** A number with so many decimals, or a dash when there is none. */
  static String number(double value, int decimals) {
    return Double.isFinite(value) ? String.format(Locale.ROOT, "%." + decimals + "f", value) : "–";
  }
}
