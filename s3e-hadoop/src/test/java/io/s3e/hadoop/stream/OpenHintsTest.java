// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import io.s3e.prefetch.ReadPolicy;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OpenHintsTest {
  private final Configuration options = new Configuration(false);

  private OpenHints hints() {
    return OpenHints.of(new OpenFileParameters().withOptions(options));
  }

  @ParameterizedTest
  @CsvSource({
    "'parquet, vector, random, adaptive', RANDOM",
    "orc, RANDOM",
    "columnar, RANDOM",
    "hbase, RANDOM",
    "whole-file, WHOLE_FILE",
    "'avro, sequential', SEQUENTIAL",
    "csv, SEQUENTIAL",
    "json, SEQUENTIAL",
    "adaptive, ADAPTIVE",
    "default, ADAPTIVE",
    "normal, ADAPTIVE",
    "'not-invented-yet, Sequential', SEQUENTIAL",
    "not-invented-yet,",
  })
  void theFirstKnownPolicyCounts(String names, ReadPolicy expected) {
    options.set("fs.option.openfile.read.policy", names);
    assertThat(hints().policy()).isEqualTo(expected);
  }

  @Test
  void s3asOwnOptionCountsWhereTheGeneralOneIsAbsent() {
    options.set("fs.s3a.experimental.input.fadvise", "random");
    assertThat(hints().policy()).isEqualTo(ReadPolicy.RANDOM);
    options.set("fs.option.openfile.read.policy", "sequential");
    assertThat(hints().policy()).isEqualTo(ReadPolicy.SEQUENTIAL);
  }

  @Test
  void aSplitThatMakesNoSenseIsNoSplit() {
    options.setLong("fs.option.openfile.split.start", 100);
    options.setLong("fs.option.openfile.split.end", 200);
    assertThat(hints()).isEqualTo(new OpenHints(null, new ByteRange(100, 200)));
    options.setLong("fs.option.openfile.split.end", 50);
    assertThat(hints()).isEqualTo(OpenHints.NONE);
    options.setLong("fs.option.openfile.split.start", -5);
    assertThat(hints()).isEqualTo(new OpenHints(null, new ByteRange(0, 50)));
    options.set("fs.option.openfile.split.start", "x");
    assertThat(hints()).isEqualTo(OpenHints.NONE);
    options.set("fs.option.openfile.split.start", "0");
    options.set("fs.option.openfile.split.end", "4096.0");
    assertThat(hints()).isEqualTo(OpenHints.NONE);
  }
}
