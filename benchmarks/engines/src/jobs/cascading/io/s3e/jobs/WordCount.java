// SPDX-License-Identifier: Apache-2.0
package io.s3e.jobs;

import cascading.flow.local.LocalFlowConnector;
import cascading.operation.aggregator.Count;
import cascading.operation.regex.RegexSplitGenerator;
import cascading.pipe.Each;
import cascading.pipe.Every;
import cascading.pipe.GroupBy;
import cascading.pipe.Pipe;
import cascading.scheme.hadoop.TextDelimited;
import cascading.scheme.hadoop.TextLine;
import cascading.tap.SinkMode;
import cascading.tap.hadoop.Hfs;
import cascading.tap.local.hadoop.LocalHfsAdaptor;
import cascading.tuple.Fields;
import java.util.Properties;

/** Counts words by Cascading's local planner, from one Hadoop file system to another. */
public final class WordCount {
  private WordCount() {}

  /**
   * @param args input and output
   */
  public static void main(String[] args) {
    Fields word = new Fields("word");
    Fields count = new Fields("count");
    Pipe pipe =
        new Each("words", new Fields("line"), new RegexSplitGenerator(word, " "), Fields.RESULTS);
    pipe = new Every(new GroupBy(pipe, word), new Count(count));
    new LocalFlowConnector(new Properties())
        .connect(
            new LocalHfsAdaptor(new Hfs(new TextLine(new Fields("line")), args[0])),
            new LocalHfsAdaptor(
                new Hfs(new TextDelimited(word.append(count), "\t"), args[1], SinkMode.REPLACE)),
            pipe)
        .complete();
  }
}
