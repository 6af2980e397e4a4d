// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import io.s3e.block.ObjectRef;
import io.s3e.columnar.LayoutMemory;
import io.s3e.columnar.PlaceFacts;
import io.s3e.hadoop.client.AsUser;
import io.s3e.hadoop.client.OpenEngines;
import io.s3e.hadoop.conf.HistorySetting;
import io.s3e.hadoop.conf.HistorySetting.Mode;
import io.s3e.hadoop.conf.ToldOnce;
import io.s3e.hadoop.spark.SparkTask;
import io.s3e.jvm.OwnLoader;
import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.ShutdownHookManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The history of the job that this JVM runs, or has a part in: read when the first file system that
 * uses it is made, added to when the last one has closed. File systems of one user with the same
 * settings share one. A file system that outlives its job has its files counted for the job that
 * runs then.
 *
 * <p><b>What can go wrong costs nothing but the history.</b> It is read and written by a thread of
 * its own, for which files wait {@link #READ_PATIENCE} once and the last file system {@link
 * #WRITE_PATIENCE}; the first problem is one WARN, which a JVM logs once for all users that have
 * the same, and all others are for the debug log.
 *
 * <p><b>In Spark</b> the plugin has executors leave the store to the driver, which tells them what
 * is {@linkplain #known known}, takes their {@linkplain #report reports} and writes once ({@link
 * #write}): executors need no way to the store of their own, and an application of a thousand reads
 * it once. File systems of all users that are made after the plugin share its history, which is the
 * application's.
 *
 * <p>Any thread.
 */
public final class JobHistory implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(JobHistory.class);

  /** Some three requests to a store; longer than the JVM takes anyway to its first read. */
  private static final Duration READ_PATIENCE = Duration.ofSeconds(1);

  /** At the end of a JVM, which Hadoop gives 30 s. */
  private static final Duration WRITE_PATIENCE = Duration.ofSeconds(10);

  /**
   * At the end of a JVM histories are written before Hadoop closes the file systems in its cache:
   * while it does, nobody else gets one from there, and a file system or a credential provider may
   * need one to write.
   */
  private static final Runnable AT_END = JobHistory::writeOpen;

  private static final int BEFORE_FILE_SYSTEMS_CLOSE = FileSystem.SHUTDOWN_HOOK_PRIORITY + 10;

  /** In the order of their beginnings. Guarded by itself. */
  private static final Map<Key, JobHistory> OPEN = new LinkedHashMap<>();

  private static final AtomicBoolean TOLD_OF_SETTING = new AtomicBoolean();

  /**
   * What the files of a JVM believe.
   *
   * @param facts as they were read; of a history that is off, that alone
   * @param places by name
   * @param memory the same for the core
   */
  private record Past(JobFacts facts, Set<String> places, LayoutMemory memory) {
    static final Past NONE = new Past(JobFacts.none(""), Set.of(), new LayoutMemory());

    static Past of(JobFacts facts) {
      Map<String, PlaceFacts> places = facts.places();
      return new Past(facts, Set.copyOf(places.keySet()), LayoutMemory.of(places));
    }

    static Past off(JobFacts facts) {
      JobFacts withheld = new JobFacts(facts.job(), facts.off(), List.of(), List.of());
      return new Past(withheld, Set.of(), new LayoutMemory());
    }
  }

  /**
   * Who shares a history.
   *
   * @param setting as it was set, with the folded name of the job
   * @param user the name of the user whose file systems do; null for those of all
   */
  private record Key(HistorySetting setting, @Nullable String user) {
    String job() {
      return setting.job();
    }
  }

  private final Key key;

  /** As whom the directory is read and written: who joined first. */
  private final UserGroupInformation user;

  private final HistoryStore store;

  /** Whether this JVM reads and writes what is kept, and does not leave that to another. */
  private final boolean isOfStore;

  private final String run;
  private final String part = UUID.randomUUID().toString();

  /** Of a JVM that runs one task. */
  private final Object wholeJvm;

  private final CompletableFuture<Past> past;
  private final AtomicBoolean isAwaited = new AtomicBoolean();

  /** Nobody waits for {@link #past} beyond that, by {@link System#nanoTime()}. */
  private final long readByNanos = System.nanoTime() + READ_PATIENCE.toNanos();

  private final AtomicBoolean hasWarned = new AtomicBoolean();
  private final Trial trial = new Trial();
  private final AtomicBoolean isWritten = new AtomicBoolean();
  final JobTables tables = new JobTables();

  /** Guarded by {@link #OPEN}. */
  private int users;

  /** The last user has left. */
  private volatile boolean isClosed;

  /**
   * @param known tells what is, in place of the store; null if that does
   */
  private JobHistory(
      Key key,
      UserGroupInformation user,
      Configuration conf,
      @Nullable FileSystem files,
      @Nullable Callable<byte[]> known) {
    this.key = key;
    this.user = user;
    this.store = new HistoryStore(new Path(key.setting.directory()), conf);
    this.isOfStore = known == null;
    if (files != null) {
      store.lend(files);
    }
    this.run = key.setting.run().isEmpty() ? part : key.setting.run();
    String task = conf.getTrimmed("mapreduce.task.attempt.id", "");
    this.wholeJvm = task.isEmpty() ? part : task;
    this.past =
        key.setting.mode() == Mode.ON
            ? onThread(user, () -> load(known)).exceptionally(this::unread)
            : CompletableFuture.completedFuture(Past.NONE);
  }

  /**
   * The history with these settings, with one user more, who closes it; null if there is none,
   * which one WARN tells where the settings ask for one.
   *
   * @param conf how to reach its directory, without any bucket's overrides applied
   */
  public static @Nullable JobHistory join(HistorySetting setting, Configuration conf) {
    return join(setting, conf, null, null);
  }

  /**
   * As above, for a file system: with others of the same user alone, unless one that is joined
   * without is open already.
   *
   * @param files the user, by which the store is read and written if it is there: {@link
   *     #close(FileSystem)} takes it back
   */
  public static @Nullable JobHistory join(
      HistorySetting setting, Configuration conf, FileSystem files) {
    return join(setting, conf, files, null);
  }

  /**
   * As above, in a JVM that leaves the store to another one: its file systems with the same
   * settings share what this one is told.
   *
   * @param known asks that JVM for what is {@linkplain #known known}; called at most once, on a
   *     thread of its own
   */
  public static @Nullable JobHistory joinLeavingStore(
      HistorySetting setting, Configuration conf, Callable<byte[]> known) {
    return join(setting, conf, null, known);
  }

  private static @Nullable JobHistory join(
      HistorySetting setting,
      Configuration conf,
      @Nullable FileSystem files,
      @Nullable Callable<byte[]> known) {
    if (setting.mode() == Mode.OFF) {
      return null;
    }
    String job = JobName.of(setting.job(), conf);
    if (job == null || setting.directory().isEmpty()) {
      if (TOLD_OF_SETTING.compareAndSet(false, true)) {
        LOG.warn(
            "No history is kept: fs.s3a.s3e.history is set, and nothing says {}",
            job == null
                ? "what the job is called (fs.s3a.s3e.history.job)"
                : "where (fs.s3a.s3e.history.dir)");
      }
      return null;
    }
    HistorySetting folded =
        new HistorySetting(setting.mode(), setting.directory(), job, setting.run());
    synchronized (OPEN) {
      JobHistory history = OPEN.get(new Key(folded, null));
      try {
        UserGroupInformation user = UserGroupInformation.getCurrentUser();
        Key key = new Key(folded, files == null ? null : user.getUserName());
        history = history == null ? OPEN.get(key) : history;
        if (history == null) {
          history = new JobHistory(key, user, conf, files, known);
          OPEN.put(key, history);
        }
      } catch (IOException | IllegalArgumentException | OutOfMemoryError e) {
        LOG.warn("No history is kept in {}: {}", setting.directory(), e.toString());
        return null;
      }
      if (history.users == 0) {
        ShutdownHookManager hooks = ShutdownHookManager.get();
        if (!hooks.isShutdownInProgress()) {
          hooks.addShutdownHook(AT_END, BEFORE_FILE_SYSTEMS_CLOSE);
        }
      }
      history.users++;
      return history;
    }
  }

  private static void writeOpen() {
    List<JobHistory> open;
    synchronized (OPEN) {
      open = List.copyOf(OPEN.values());
    }
    open.forEach(JobHistory::writeIfDue);
  }

  /** A task of Spark's has ended. */
  public static void taskEnded(long id) {
    synchronized (OPEN) {
      OPEN.values().forEach(each -> each.trial.ended(id));
    }
  }

  /** Runs {@code work} on a thread of its own, beside everything else. */
  private static <T> CompletableFuture<T> onThread(
      UserGroupInformation user, PrivilegedExceptionAction<T> work) {
    CompletableFuture<T> done = new CompletableFuture<>();
    OwnLoader.thread(() -> run(() -> AsUser.call(user, work), done), "s3e-history").start();
    return done;
  }

  // Hadoop's file systems may throw anything; it is for who waits.
  @SuppressWarnings("IllegalCatch")
  private static <T> void run(Callable<T> work, CompletableFuture<T> done) {
    try {
      done.complete(work.call());
    } catch (Throwable e) {
      done.completeExceptionally(e);
    }
  }

  // What an RPC may throw is for Spark to say.
  @SuppressWarnings("IllegalCatch")
  private Past load(@Nullable Callable<byte[]> known) {
    if (known != null) {
      try {
        return Past.of(HistoryFile.decode(known.call()));
      } catch (Exception e) {
        warn("The driver does not tell the history", e.toString());
        return Past.NONE;
      }
    }
    try {
      HistoryStore.Found found = store.find(key.job());
      if (found.problem() != null) {
        warn("A part of the history is not used", found.problem());
      }
      JobFacts facts = found.facts();
      if (!facts.off().isEmpty()) {
        LOG.info(
            "The history of {} in {} is not used, since {} (s3e history clear begins anew)",
            key.job(),
            store,
            facts.off());
        return Past.off(facts);
      }
      return Past.of(facts);
    } catch (IOException | RuntimeException | LinkageError e) {
      if (!isClosed) {
        warn("The history cannot be read", e.toString());
      }
      return Past.NONE;
    }
  }

  private void warn(String what, String why) {
    if (hasWarned.compareAndSet(false, true)) {
      String format = "{} (job {}, {}); reads go on as without: {}";
      ToldOnce.warn(LOG, format, what, key.job(), store, why);
    } else {
      LOG.debug("{}: {}", what, why);
    }
  }

  /** The calling thread opens a file. May wait for the history, once for the JVM. */
  public OpenedFile open(ObjectRef object) {
    if (store.contains(object)) {
      return OpenedFile.NONE;
    }
    return isWritten.get() ? ofJobThatRuns().opened(object) : opened(object);
  }

  /**
   * The user's latest in the same directory that is still to be written, else this one: Hadoop
   * keeps file systems when their job is over, as that of a notebook's first SparkContext, and the
   * next one's tasks read by them.
   */
  private JobHistory ofJobThatRuns() {
    JobHistory latest = this;
    synchronized (OPEN) {
      for (JobHistory each : OPEN.values()) {
        boolean isUsers = each.key.user == null || each.key.user.equals(key.user);
        boolean isThere = each.key.setting.directory().equals(key.setting.directory());
        if (isUsers && isThere && !each.isWritten.get()) {
          latest = each;
        }
      }
    }
    return latest;
  }

  private OpenedFile opened(ObjectRef object) {
    String place = LayoutMemory.placeOf(object);
    tables.open(place);
    Past known = past();
    if (!known.places.contains(place)) {
      return OpenedFile.NONE;
    }
    Object task = SparkTask.isPossible() ? SparkTask.id() : wholeJvm;
    if (task == null) {
      // A driver's own reads are no task's.
      return new OpenedFile(known.memory, null);
    }
    TaskTime time = trial.of(task);
    return new OpenedFile(time.isControl ? null : known.memory, time);
  }

  /** An error, too, costs nothing but the history. */
  private Past unread(Throwable failure) {
    warn("The history cannot be read", failure.toString());
    return Past.NONE;
  }

  private Past past() {
    if (!past.isDone() && isAwaited.compareAndSet(false, true)) {
      Past loaded = await(past, READ_PATIENCE);
      return loaded == null ? Past.NONE : loaded;
    }
    return past.getNow(Past.NONE);
  }

  /**
   * What is known of tables, for {@link #joinLeavingStore} in another JVM; nothing where that is
   * not to be used. Waits a bounded time, which is over for all once it is over for one.
   *
   * @throws IOException if it cannot be written as bytes
   */
  public byte[] known() throws IOException {
    long left = Math.max(0, readByNanos - System.nanoTime());
    Past loaded = await(past, Duration.ofNanos(left));
    JobFacts facts = loaded == null ? JobFacts.none(key.job()) : loaded.facts;
    return HistoryFile.encode(new JobFacts(key.job(), "", List.of(), facts.tables()));
  }

  /** Null if it does not come in time, or fails. */
  private static <T> @Nullable T await(CompletableFuture<T> result, Duration patience) {
    try {
      return result.get(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    } catch (ExecutionException | TimeoutException e) {
      LOG.debug("No history in time", e);
      return null;
    }
  }

  /** Takes what the engines of this JVM have learnt of the tables that were opened. */
  public void learn() {
    tables.learn(OpenEngines.learnt());
  }

  private JobFacts.Run mine() {
    long now = System.currentTimeMillis();
    return new JobFacts.Run(run, part, now, trial.with(), trial.without());
  }

  /**
   * What this JVM has to tell until now, for {@link #take} in another one: of all tasks, and of
   * those tables that the report before did not tell the same of. One report in {@value
   * JobTables#REPORTS_TO_WHOLE} has all tables.
   *
   * @throws IOException if it cannot be written as bytes
   */
  public byte[] report() throws IOException {
    learn();
    return HistoryFile.encode(new JobFacts(key.job(), "", List.of(mine()), tables.news()));
  }

  /**
   * Takes the latest report of another JVM: its tasks in place of those before, its tables with
   * those that others have told.
   *
   * @param from names that JVM
   * @throws IOException if it is none
   */
  public void take(String from, byte[] report) throws IOException {
    tables.take(from, HistoryFile.decode(report));
  }

  /**
   * Adds all that is known to what is kept, unless that is off. Waits a bounded time; a failure is
   * told by a WARN.
   */
  public void write() {
    isWritten.set(true);
    learn();
    trial.allEnded();
    JobFacts written = tables.all(key.job(), mine());
    if (written.tables().isEmpty() || isOff()) {
      return;
    }
    try {
      store.prepareToAdd();
    } catch (IOException | RuntimeException e) {
      LOG.debug("S3A finds the same when it writes", e);
    }
    CompletableFuture<HistoryStore.@Nullable Found> adding = onThread(user, () -> add(written));
    HistoryStore.Found found = await(adding, WRITE_PATIENCE);
    if (!adding.isDone() && !Thread.currentThread().isInterrupted()) {
      String late = "the store has not answered within " + WRITE_PATIENCE.toSeconds() + " s";
      warn("The history is not written", late);
    } else if (adding.isCompletedExceptionally()) {
      warn("The history is not written", "an error, which the debug log has");
    }
    if (found != null && key.setting.mode() == Mode.ON) {
      LOG.info(
          "History of {}: {}{}",
          key.job(),
          found.facts().comparison().text(),
          found.facts().off().isEmpty() ? "" : "; it is off: " + found.facts().off());
    }
  }

  /** What is added to a history that is off is of no use: it goes with it when that is cleared. */
  private boolean isOff() {
    return !past.getNow(Past.NONE).facts.off().isEmpty();
  }

  private HistoryStore.@Nullable Found add(JobFacts facts) {
    try {
      HistoryStore.Found found = store.add(facts);
      if (found.problem() != null) {
        warn("A part of the history is not used", found.problem());
      }
      return found;
    } catch (IOException | RuntimeException | LinkageError e) {
      warn("The history cannot be written", e.toString());
      return null;
    }
  }

  /** One user less. After the last one it is written, unless that was done, or another JVM does. */
  @Override
  public void close() {
    close(null);
  }

  /** As {@link #close()}, by a user that has lent itself and is still open. */
  public void close(@Nullable FileSystem files) {
    boolean isLast;
    synchronized (OPEN) {
      isLast = --users == 0;
      isClosed = isLast;
      if (isLast) {
        OPEN.remove(key, this);
        if (OPEN.isEmpty() && !ShutdownHookManager.get().isShutdownInProgress()) {
          // It would keep this class, and its loader.
          ShutdownHookManager.get().removeShutdownHook(AT_END);
        }
      } else if (files != null) {
        store.takeBack(files);
      }
    }
    if (isLast) {
      writeIfDue();
    } else {
      learn();
    }
  }

  private void writeIfDue() {
    learn();
    if (isOfStore && !isWritten.get() && isWorthWriting()) {
      write();
    }
  }

  /**
   * Of a job of a thousand JVMs not each has to write what the others have written: of those that
   * have found nothing new, which read with the history, one in {@value Trial#TOLD_PART} does, and
   * each that read without.
   */
  private boolean isWorthWriting() {
    Set<String> known = past.getNow(Past.NONE).places;
    return key.setting.mode() == Mode.OBSERVE
        || tables.hasOthersThan(known)
        || Trial.isTold(wholeJvm);
  }

  @Override
  public String toString() {
    return "history of " + key.job() + " in " + store;
  }
}
