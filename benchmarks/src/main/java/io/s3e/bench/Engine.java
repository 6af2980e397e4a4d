// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.plain.PlainFileSystem;
import io.s3e.bench.raw.RawCeiling;
import io.s3e.bench.raw.RawClientKind;
import io.s3e.bench.raw.RawClients;
import io.s3e.bench.workload.WorkloadKind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One way of reading objects, by the name that tables and options call it. */
public sealed interface Engine {

  /** The names that there are, for a person. */
  String NAMES =
      "s3e; s3e-crt-bytes, s3e-s3a (S3E over its other clients); s3e-nocache, s3e-host (S3E without"
          + " its cache on disk, and with one that JVMs share); s3e-nocolumnar (without its"
          + " prediction of columns); classic, prefetch, analytics (S3A's streams as they come) and"
          + " classic-tuned, prefetch-tuned, analytics-tuned; iceberg-s3fileio, iceberg-s3e"
          + " (Iceberg's file IO, and S3E's); raw-crt-N, raw-crt-bytes-N,"
          + " raw-sync-N (a client alone, N ranges in flight); plain-file, plain-hadoop (the same"
          + " bytes in local files, by FileInputStream and by Hadoop's file://)";

  /** How tables and options call it. */
  String name();

  /** Hadoop configuration entries that are this engine's own in every workload. */
  Map<String, String> settings();

  /** Hadoop configuration entries that are this engine's own in one workload. */
  Map<String, String> settings(WorkloadKind workload);

  /** Whether it can run this workload at all. */
  boolean runs(WorkloadKind workload);

  /** Options without which its JVM cannot run it. */
  List<String> jvmOptions();

  /** Whether it is a stream of S3A's own, with which the others are compared. */
  boolean isS3a();

  /** Whether people read by it without S3E. */
  default boolean isPeer() {
    return isS3a() || name().equals(KnownEngines.S3FILEIO);
  }

  /** Whether it is a raw client: a ceiling, not a stream. */
  boolean isRaw();

  /** Whether it reads local files: the ceiling of a cache on disk. */
  boolean isFile();

  /** Whether it is what others can reach at best, and nothing that a user could take. */
  default boolean isCeiling() {
    return isRaw() || isFile();
  }

  /** Settings that a user makes for a workload that is known beforehand. */
  @FunctionalInterface
  interface Tuning {
    /** As the product comes. */
    Tuning NONE = workload -> Map.of();

    /** Hadoop configuration entries; none that an engine sets itself. */
    Map<String, String> of(WorkloadKind workload);
  }

  /**
   * A file system behind {@code s3a://}: what a user writes into core-site.xml to get it.
   *
   * @param name how tables and options call it
   * @param settings Hadoop configuration entries for every workload
   * @param tuning further ones by workload, which {@code settings} override
   */
  record HadoopEngine(String name, Map<String, String> settings, Tuning tuning) implements Engine {

    public HadoopEngine {
      settings = Map.copyOf(settings);
    }

    @Override
    public Map<String, String> settings(WorkloadKind workload) {
      Map<String, String> all = new LinkedHashMap<>(tuning.of(workload));
      all.putAll(settings);
      return all;
    }

    /** There are local copies of what is in one bucket. */
    @Override
    public boolean runs(WorkloadKind workload) {
      return !isFile() || workload.bucketsBeside() == 0;
    }

    @Override
    public List<String> jvmOptions() {
      return List.of();
    }

    @Override
    public boolean isS3a() {
      return KnownEngines.S3A.equals(settings.get(KnownEngines.IMPLEMENTATION));
    }

    @Override
    public boolean isRaw() {
      return false;
    }

    @Override
    public boolean isFile() {
      return PlainFileSystem.class.getName().equals(settings.get(KnownEngines.IMPLEMENTATION));
    }
  }

  /**
   * An S3 client without anything above it, which can do nothing but read from the front.
   *
   * @param ceiling which client, and how many ranges it has in flight
   * @param settings Hadoop configuration entries, of which it takes where the store is
   */
  record RawEngine(RawCeiling ceiling, Map<String, String> settings) implements Engine {

    public RawEngine {
      settings = Map.copyOf(settings);
    }

    @Override
    public String name() {
      return ceiling.name();
    }

    @Override
    public Map<String, String> settings(WorkloadKind workload) {
      return settings;
    }

    @Override
    public boolean runs(WorkloadKind workload) {
      return workload.hasRawCeiling();
    }

    @Override
    public List<String> jvmOptions() {
      return List.of("-XX:MaxDirectMemorySize=" + RawClients.directMebibytes(ceiling) + "m");
    }

    @Override
    public boolean isS3a() {
      return false;
    }

    @Override
    public boolean isRaw() {
      return true;
    }

    @Override
    public boolean isFile() {
      return false;
    }
  }

  /** Names of the engines that need no settings of their own. */
  static List<String> knownNames() {
    List<String> names = new ArrayList<>();
    KnownEngines.HADOOP.forEach(engine -> names.add(engine.name()));
    for (RawClientKind client : RawClientKind.values()) {
      KnownEngines.IN_FLIGHT.forEach(n -> names.add(new RawCeiling(client, n).name()));
    }
    return names;
  }

  /**
   * Makes an engine of a name and the settings that the user gave for it; they come on top of those
   * of the known engine of that name, or of the longest known name that it begins with and a dash
   * ({@code classic-mine}). What begins with no known name is S3A, unless the settings name another
   * file system. {@code raw-CLIENT-N} is a raw client with N ranges in flight.
   *
   * @throws IllegalArgumentException when the name is not known and nothing was set for it
   */
  static Engine of(String name, Map<String, String> extra) {
    Optional<RawCeiling> ceiling = RawCeiling.parse(name);
    if (ceiling.isPresent()) {
      return new RawEngine(ceiling.get(), extra);
    }
    Optional<HadoopEngine> known =
        KnownEngines.HADOOP.stream()
            .filter(e -> name.equals(e.name()) || name.startsWith(e.name() + '-'))
            .max(Comparator.comparingInt(e -> e.name().length()));
    if (extra.isEmpty() && known.filter(e -> e.name().equals(name)).isEmpty()) {
      throw new IllegalArgumentException(
          "No engine is named " + name + "; there are " + String.join(", ", knownNames()));
    }
    Map<String, String> settings = new LinkedHashMap<>();
    known.ifPresent(e -> settings.putAll(e.settings()));
    settings.putAll(extra);
    settings.putIfAbsent(KnownEngines.IMPLEMENTATION, KnownEngines.S3A);
    return new HadoopEngine(name, settings, known.map(HadoopEngine::tuning).orElse(Tuning.NONE));
  }
}
