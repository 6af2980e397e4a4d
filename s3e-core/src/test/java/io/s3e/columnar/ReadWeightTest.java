// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.S3E;
import io.s3e.columnar.TracedReads.Trace;
import io.s3e.testing.ArchitecturePage;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Slow;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.jacoco.agent.rt.RT;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.CoverageBuilder;
import org.jacoco.core.analysis.IClassCoverage;
import org.jacoco.core.tools.ExecFileLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How much of the core one cold read runs, nested classes counted as the one that they are in: what
 * runs once is loaded, interpreted and compiled while the reader waits, and each function that is
 * written as a lambda is linked, which takes as long as loading a class or two. The bounds only
 * fall; a change that raises one says what the lines buy.
 */
@Slow
class ReadWeightTest {
  private static final Pattern FUNCTION = Pattern.compile("io\\.s3e\\.(?!testing).*Lambda\\$");

  @TempDir Path directory;

  private record Weight(List<String> classes, int lines, long functions) {
    List<String> simpleNames() {
      return classes.stream().map(name -> name.substring(name.lastIndexOf('/') + 1)).toList();
    }
  }

  private Weight trace(Trace trace) throws Exception {
    Path data = directory.resolve(trace + ".exec");
    Path loaded = directory.resolve(trace + ".classes");
    Path agent = Path.of(RT.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (ForkedJvm jvm =
        ForkedJvm.of(TracedReads.class.getName())
            .options(
                "-javaagent:" + agent + "=output=none,includes=io.s3e.*",
                "-Xlog:class+load:file=" + loaded,
                "-Xmx256m")
            .start(trace.name(), data.toString())) {
      jvm.await("traced");
    }
    ExecFileLoader ran = new ExecFileLoader();
    try (InputStream in = Files.newInputStream(data)) {
      ran.load(in);
    }
    CoverageBuilder found = new CoverageBuilder();
    Path classes = Path.of(S3E.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    new Analyzer(ran.getExecutionDataStore(), found).analyzeAll(classes.toFile());
    List<IClassCoverage> executed =
        found.getClasses().stream()
            .filter(each -> each.getInstructionCounter().getCoveredCount() > 0)
            .toList();
    List<String> made = Files.readAllLines(loaded);
    Weight weight =
        new Weight(
            executed.stream()
                .map(each -> each.getName().replaceFirst("\\$.*", ""))
                .distinct()
                .sorted()
                .toList(),
            executed.stream().mapToInt(each -> each.getLineCounter().getCoveredCount()).sum(),
            made.stream().filter(line -> FUNCTION.matcher(line).find()).count());
    System.out.printf(
        "%s runs %d classes, %d lines, %d functions: %s%n",
        trace, weight.classes().size(), weight.lines(), weight.functions(), weight.classes());
    assertThat(made)
        .as("linking what Java makes of a record takes longer than reading a block")
        .noneMatch(line -> line.contains("java.lang.runtime.ObjectMethods"));
    return weight;
  }

  @Test
  void aColdRead() throws Exception {
    Weight weight = trace(Trace.READ);
    assertThat(weight.simpleNames())
        .as("what docs/ARCHITECTURE.md tells of a read")
        .containsAll(ArchitecturePage.read().section("A read in 12 steps").classNames());
    // 81 classes and 1,925 to 1,935 lines: a reader that waits longer asks its planner once more.
    assertThat(weight.classes()).hasSizeBetween(10, 81);
    assertThat(weight.lines()).isBetween(200, 1_970);
    assertThat(weight.functions()).as("those of making the engine too").isBetween(10L, 95L);
  }

  @Test
  void aFooterAndTwoColumns() throws Exception {
    Weight weight = trace(Trace.COLUMNS);
    // 101 or 102 classes and 2,818 to 2,840 lines.
    assertThat(weight.classes()).hasSizeBetween(10, 102);
    assertThat(weight.lines()).isBetween(300, 2_870);
    assertThat(weight.functions()).isBetween(10L, 118L);
  }
}
