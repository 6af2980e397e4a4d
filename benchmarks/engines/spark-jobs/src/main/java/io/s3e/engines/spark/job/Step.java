// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark.job;

import io.s3e.engines.spark.job.TpchTables.Format;
import io.trino.tpch.TpchTable;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * One step of work: the first word of its line names it, the others are its arguments.
 *
 * <pre>
 * generate SCALE FILES FORMAT,FORMAT DIRECTORY   writes the tables of TPC-H
 * generate_table NAME SCALE FILES FORMAT,FORMAT DIRECTORY   writes one of them
 * files COUNT ROWS FORMAT DIRECTORY              writes as many files of as many rows of 64 bytes
 * lines BYTES FILES DIRECTORY                    writes text of words
 * tables FORMAT DIRECTORY                        makes them the tables that queries name
 * table NAME FORMAT DIRECTORY                    makes one of them a table that queries name
 * query NUMBER                                   one of the 22 queries of TPC-H
 * sql STATEMENT                                  any statement; the rest of the line
 * infer FORMAT DIRECTORY                         the schema of all of its files
 * save TABLE FORMAT DIRECTORY                    writes a table
 * save_by COLUMN TABLE FORMAT DIRECTORY          writes a table in a directory for each value
 * words DIRECTORY                                counts the words of text files
 * forget URI                                     closes the file system, and with it its caches
 * metrics                                        prints those of S3E's plugin, a line each
 * picture PAGE FILE                              a PNG of a page of the application's UI
 * </pre>
 */
enum Step {
  GENERATE(4) {
    @Override
    List<Row> run(SparkSession spark, String[] args) {
      TpchTables.generate(
          spark, Double.parseDouble(args[0]), Integer.parseInt(args[1]), formats(args[2]), args[3]);
      return List.of();
    }
  },
  GENERATE_TABLE(5) {
    @Override
    List<Row> run(SparkSession spark, String[] args) {
      TpchTables.generate(
          spark,
          TpchTable.getTable(args[0]),
          Double.parseDouble(args[1]),
          Integer.parseInt(args[2]),
          formats(args[3]),
          args[4]);
      return List.of();
    }
  },
  FILES(4) {
    @Override
    List<Row> run(SparkSession spark, String[] args) {
      int files = Integer.parseInt(args[0]);
      long rows = Long.parseLong(args[1]);
      Dataset<Row> numbers = spark.range(0, files * rows, 1, files).toDF("id");
      Dataset<Row> table = numbers.selectExpr(MADE_COLUMNS);
      format(args[2]).writer(table).save(args[3]);
      return List.of();
    }
  },
  LINES(3) {
    @Override
    List<Row> run(SparkSession spark, String[] args) {
      long lines = Long.parseLong(args[0]) / LINE_BYTES;
      spark
          .range(0, lines, 1, Integer.parseInt(args[1]))
          .selectExpr(MADE_LINE)
          .write()
          .text(args[2]);
      return List.of();
    }
  },
  TABLES(2) {
    @Override
    List<Row> run(SparkSession spark, String[] args) {
      TpchTables.register(spark, format(args[0]), args[1]);
      return List.of();
    }
  },
  TABLE(3) {
    @Override
    List<Row> run(SparkSession spark, String[] args) {
      TpchTables.register(spark, TpchTable.getTable(args[0]), format(args[1]), args[2]);
      return List.of();
    }
  },
  QUERY(1) {
    @Override
    List<Row> run(SparkSession spark, String[] args) throws IOException {
      String resource = "/tpch/q" + Integer.parseInt(args[0]) + ".sql";
      try (InputStream in = Step.class.getResourceAsStream(resource)) {
        if (in == null) {
          throw new IllegalArgumentException("TPC-H has no query " + args[0]);
        }
        return spark.sql(new String(in.readAllBytes(), StandardCharsets.UTF_8)).collectAsList();
      }
    }
  },
  SQL(1) {
    @Override
    List<Row> run(SparkSession spark, String[] args) {
      return spark.sql(args[0]).collectAsList();
    }
  },
  INFER(2) {
    @Override
    List<Row> run(SparkSession spark, String[] args) {
      String schema =
          spark.read().format(args[0]).option("mergeSchema", true).load(args[1]).schema().json();
      return List.of(RowFactory.create(schema));
    }
  },
  SAVE(3) {
    @Override
    List<Row> run(SparkSession spark, String[] args) {
      format(args[1]).writer(spark.table(args[0])).save(args[2]);
      return List.of();
    }
  },
  SAVE_BY(4) {
    @Override
    List<Row> run(SparkSession spark, String[] args) {
      format(args[2]).writer(spark.table(args[1])).partitionBy(args[0]).save(args[3]);
      return List.of();
    }
  },
  WORDS(1) {
    @Override
    List<Row> run(SparkSession spark, String[] args) {
      return JavaSparkContext.fromSparkContext(spark.sparkContext())
          .textFile(args[0])
          .flatMap(line -> Arrays.asList(line.split(" ", -1)).iterator())
          .mapToPair(word -> new Tuple2<>(word, 1L))
          .reduceByKey(Long::sum)
          .map(count -> RowFactory.create(count._1(), count._2()))
          .collect();
    }
  },
  METRICS(0) {
    @Override
    List<Row> run(SparkSession spark, String[] args) throws IOException {
      PluginMetrics.settled()
          .forEach((name, value) -> System.out.println(Steps.METRIC + name + "=" + value));
      return List.of();
    }
  },
  PICTURE(2) {
    @Override
    List<Row> run(SparkSession spark, String[] args) throws IOException {
      URI ui = URI.create(spark.sparkContext().uiWebUrl().get());
      try {
        Picture.take(ui.resolve(args[0]), Path.of(args[1]));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted at a picture of " + args[0]);
      }
      return List.of();
    }
  },
  FORGET(1) {
    @Override
    List<Row> run(SparkSession spark, String[] args) throws IOException {
      TaskJvms.closeFileSystems(spark.sparkContext(), args[0]);
      return List.of();
    }
  };

  /** A key, a small number, and six numbers that do not compress: 64 bytes a row. */
  private static final String[] MADE_COLUMNS = {
    "id",
    "id % 100 as k",
    "xxhash64(id, 1) as a",
    "xxhash64(id, 2) as b",
    "xxhash64(id, 3) as c",
    "xxhash64(id, 4) as d",
    "xxhash64(id, 5) as e",
    "xxhash64(id, 6) as f"
  };

  /** Ten words of four letters and digits, of 65,536 that there are. */
  private static final String MADE_LINE =
      "array_join(transform(sequence(0, 9), i -> lpad(hex(pmod(xxhash64(id, i), 65536)), 4, '0')),"
          + " ' ') as value";

  /** Length of {@link #MADE_LINE} with its line end. */
  private static final int LINE_BYTES = 50;

  private final int arguments;

  Step(int arguments) {
    this.arguments = arguments;
  }

  /**
   * Does the work.
   *
   * @return the rows of its result; none when it has none
   */
  abstract List<Row> run(SparkSession spark, String[] args) throws IOException;

  /** Does the work that a line asks for. */
  static List<Row> run(SparkSession spark, String line) throws IOException {
    String[] words = line.strip().split(" +", 2);
    Step step = constant(Step.class, words[0]);
    String[] args =
        words.length == 1 ? new String[0] : words[1].strip().split(" +", step.arguments);
    if (args.length != step.arguments) {
      throw new IllegalArgumentException(
          "The step " + words[0] + " takes " + step.arguments + " arguments: " + line);
    }
    return step.run(spark, args);
  }

  private static List<Format> formats(String names) {
    return Arrays.stream(names.split(",", -1)).map(Step::format).toList();
  }

  private static Format format(String name) {
    return constant(Format.class, name);
  }

  private static <E extends Enum<E>> E constant(Class<E> type, String name) {
    for (E each : type.getEnumConstants()) {
      if (each.name().equals(name.toUpperCase(Locale.ROOT))) {
        return each;
      }
    }
    throw new IllegalArgumentException(
        name + " is none of " + Arrays.toString(type.getEnumConstants()));
  }
}
