// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import io.s3e.hadoop.cost.Prices;
import io.s3e.hadoop.cost.ReadAdvice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Where time and money of an application went, and what would save some of it.
 *
 * <p>A finding is told if it saves at least {@link ReadAdvice#WORTH_TELLING} of what the
 * application's slots and requests cost; the dearest comes first, remarks last.
 *
 * @param log the path of the event log
 * @param damages what of the log could not be read, and what of the files
 * @param findings by what they save, most first
 */
public record Explanation(
    String log,
    List<String> damages,
    Application application,
    Prices prices,
    List<TableReads> tables,
    List<Finding> findings) {
  private static final List<Rule> RULES =
      List.of(new FileRule(), new LayoutRule(), new SlotRule(), new StoreRule());

  /**
   * How to look.
   *
   * @param vcpuHour an hour of a task slot in US dollars; empty for what the application says
   */
  public record Options(Configuration conf, boolean look, OptionalDouble vcpuHour) {}

  /**
   * Explains every application whose log is at the path, one after the other.
   *
   * @param then gets each explanation; what it does not keep is of no use any more
   * @return of the logs of a directory those that cannot be opened, and why, in a line each
   * @throws IOException if there is no event log, or the only one cannot be opened; its message
   *     names it
   */
  public static List<String> each(String path, Options options, Consumer<Explanation> then)
      throws IOException {
    List<EventLog> logs = EventLog.find(new Path(path), options.conf());
    List<String> unread = new ArrayList<>();
    for (EventLog log : logs) {
      Explanation explanation;
      try {
        explanation = of(log, options);
      } catch (IOException e) {
        if (logs.size() == 1) {
          throw e;
        }
        unread.add(String.valueOf(e.getMessage()));
        continue;
      }
      then.accept(explanation);
    }
    return unread;
  }

  private static Explanation of(EventLog log, Options options) throws IOException {
    ApplicationReader reader = new ApplicationReader();
    List<String> damages = log.read(reader, options.conf());
    Application application = reader.application();
    List<TableReads> tables = TableReads.of(application);
    Map<String, FileLayout> layouts =
        options.look() ? FooterLook.at(tables, options.conf(), damages) : Map.of();
    Prices prices =
        new Prices(
            options
                .vcpuHour()
                .orElse(application.number("spark.s3e.price.vcpu", Prices.LIST.vcpuHour())),
            application.number("spark.s3e.price.gets", Prices.LIST.thousandRequests()));
    return new Explanation(
        log.path().toString(),
        damages,
        application,
        prices,
        tables,
        ranked(new Facts(application, tables, layouts), prices));
  }

  private static List<Finding> ranked(Facts facts, Prices prices) {
    double whole = cost(facts.application(), facts.tables(), prices);
    return RULES.stream()
        .flatMap(rule -> rule.find(facts).stream())
        .filter(
            finding ->
                finding.kind().isRemark()
                    || prices.of(finding.saving()) >= ReadAdvice.WORTH_TELLING * whole)
        .sorted(
            Comparator.<Finding>comparingDouble(finding -> prices.of(finding.saving())).reversed())
        .toList();
  }

  private static double cost(Application application, List<TableReads> tables, Prices prices) {
    return prices.of(
        application.slotMillis(), tables.stream().mapToLong(TableReads::requests).sum());
  }

  /** What the slots of the application, while stages ran, and its requests cost, in US dollars. */
  double cost() {
    return cost(application, tables, prices);
  }
}
