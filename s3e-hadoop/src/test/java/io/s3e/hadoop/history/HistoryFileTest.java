// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.columnar.LayoutMemory;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-hadoop")
class HistoryFileTest {
  private static byte[] encoded() throws IOException {
    return HistoryFile.encode(SomeFacts.of(new Random(1), "nightly #"));
  }

  @Test
  void whatIsWrittenIsRead() throws Exception {
    for (long seed = 0; seed < 100; seed++) {
      JobFacts facts = SomeFacts.of(new Random(seed), "nightly #");
      assertThat(HistoryFile.decode(HistoryFile.encode(facts)))
          .as("seed %d", seed)
          .isEqualTo(facts);
    }
  }

  @Test
  void fileIsOneJsonObjectThatSaysItsFormat() throws Exception {
    assertThat(new String(encoded(), UTF_8))
        .startsWith("{\"format\":1,\"sha256\":\"")
        .contains("\"history\":{")
        .endsWith("}\n");
  }

  @Test
  void otherFormatIsRefusedAndNamed() throws Exception {
    byte[] future =
        new String(encoded(), UTF_8).replace("\"format\":1,", "\"format\":2,").getBytes(UTF_8);
    assertThatThrownBy(() -> HistoryFile.decode(future))
        .isInstanceOf(IOException.class)
        .hasMessage("its format is 2, and not 1");
  }

  /** Fields of later versions. */
  @Test
  void unknownFieldsAreIgnored() throws Exception {
    byte[] more = sealed("{\"job\":\"j\",\"later\":[1,{}],\"runs\":[],\"tables\":[]}");
    assertThat(HistoryFile.decode(more)).isEqualTo(JobFacts.none("j"));
  }

  /** Any byte that is another one, and any end that is missing, is noticed. */
  @Test
  void damageIsNoticed() throws Exception {
    byte[] whole = encoded();
    Random random = new Random(42);
    for (int i = 0; i < 300; i++) {
      byte[] damaged = whole.clone();
      int at = random.nextInt(whole.length - 1);
      damaged[at] ^= (byte) (1 << random.nextInt(8));
      assertThatThrownBy(() -> HistoryFile.decode(damaged))
          .as("byte %d", at)
          .isInstanceOf(IOException.class);
      byte[] truncated = java.util.Arrays.copyOf(whole, at);
      assertThatThrownBy(() -> HistoryFile.decode(truncated))
          .as("%d bytes", at)
          .isInstanceOf(IOException.class);
    }
  }

  /** A checksum that is right, and JSON that somebody has tampered with. */
  @Test
  void poisonIsRefusedOrMadeHarmless() throws Exception {
    String text = new String(encoded(), UTF_8);
    String history = text.substring(text.indexOf("\"history\":") + 10, text.length() - 2);
    int taken = 0;
    long first = Seed.ofBuilds();
    for (long seed = first; seed < first + 200; seed++) {
      byte[] poison = sealed(mutated(history, new Random(seed)));
      JobFacts facts;
      try {
        facts = HistoryFile.decode(poison);
      } catch (IOException e) {
        continue;
      }
      taken++;
      LayoutMemory memory = LayoutMemory.of(facts.places());
      assertThat(memory.facts()).as("seed %d", seed).isNotNull();
      assertThat(facts.judged().comparison().text()).as("seed %d", seed).isNotEmpty();
      assertThat(facts.with(facts)).as("seed %d", seed).isEqualTo(facts);
      assertThat(HistoryFile.decode(HistoryFile.encode(facts)))
          .as("seed %d", seed)
          .isEqualTo(facts);
    }
    assertThat(taken).as("files that are JSON still").isGreaterThan(20);
  }

  private static String mutated(String text, Random random) {
    StringBuilder mutated = new StringBuilder(text);
    String marks = "0123456789-,:[]{}\"enull.Etrue";
    for (int i = 0; i < 1 + random.nextInt(3); i++) {
      int at = random.nextInt(mutated.length());
      switch (random.nextInt(3)) {
        case 0 -> mutated.setCharAt(at, marks.charAt(random.nextInt(marks.length())));
        case 1 -> mutated.deleteCharAt(at);
        default -> mutated.insert(at, marks.charAt(random.nextInt(marks.length())));
      }
    }
    return mutated.toString();
  }

  private static byte[] sealed(String history) throws Exception {
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(history.getBytes(UTF_8));
    String sum = HexFormat.of().formatHex(digest);
    return ("{\"format\":1,\"sha256\":\"" + sum + "\",\"history\":" + history + "}\n")
        .getBytes(UTF_8);
  }

  @Slow
  @Test
  void largeJobIsCutToItsBound() throws Exception {
    Random random = new Random(7);
    List<TableFacts> tables = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      tables.add(SomeFacts.widest(random, "bucket/table-" + i, i));
    }
    JobFacts facts = new JobFacts("j", "", SomeFacts.runs(random, 50), tables);
    byte[] bytes = HistoryFile.encode(facts);
    assertThat(bytes.length).isBetween(HistoryFile.MOST_BYTES / 2, HistoryFile.MOST_BYTES);
    JobFacts kept = HistoryFile.decode(bytes);
    assertThat(kept.runs()).isEqualTo(facts.runs());
    int count = kept.tables().size();
    assertThat(kept)
        .as("as many of the latest tables as fit")
        .isEqualTo(facts.withLatestTables(count));
    assertThat(HistoryFile.encode(facts.withLatestTables(count + 1)))
        .as("one more does not")
        .isEqualTo(bytes);
  }

  /** Two thousand JVMs of one run whose names are as long as names may be, in bytes too. */
  @Test
  void runsAreCutWhereTheyAloneAreTooLong() throws Exception {
    String name = "\u00e9".repeat(190);
    List<JobFacts.Run> runs = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      runs.add(new JobFacts.Run(name, name + i, i, Blocked.NONE, Blocked.NONE));
    }
    JobFacts facts =
        new JobFacts("j", "", runs, List.of(SomeFacts.widest(new Random(3), "bucket/t", 1)));
    JobFacts kept = HistoryFile.decode(HistoryFile.encode(facts));
    assertThat(kept.tables()).isEmpty();
    assertThat(kept.runs()).hasSizeBetween(800, 1999).endsWith(facts.runs().get(1999));
  }

  @Test
  void aTableTakesNoMoreThanItsBound() throws Exception {
    TableFacts widest = SomeFacts.widest(new Random(3), "bucket/t", 1);
    assertThat(widest.possible()).isEqualTo(widest);
    JobFacts one = new JobFacts("j", "", List.of(), List.of(widest));
    int without = HistoryFile.encode(JobFacts.none("j")).length;
    assertThat(HistoryFile.encode(one).length - without).isBetween(8 << 10, TableFacts.MOST_BYTES);
  }
}
