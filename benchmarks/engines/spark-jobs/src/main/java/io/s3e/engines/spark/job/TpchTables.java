// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark.job;

import io.trino.tpch.TpchColumn;
import io.trino.tpch.TpchEntity;
import io.trino.tpch.TpchTable;
import java.math.BigDecimal;
import java.sql.Date;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.DataFrameReader;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * The eight tables of TPC-H: their schemas, their rows, and how they are written and read.
 *
 * <p>Money and quantities are decimals, so that a sum does not depend on the order of its rows and
 * two runs of a query give the same digest.
 */
final class TpchTables {

  /** A file format, as Spark calls it, with its compression. */
  enum Format {
    PARQUET("parquet", "snappy"),
    ORC("orc", "zstd"),
    CSV("csv", "none"),
    JSON_GZ("json", "gzip");

    private final String source;
    private final String compression;

    Format(String source, String compression) {
      this.source = source;
      this.compression = compression;
    }

    DataFrameReader reader(SparkSession spark) {
      return spark.read().format(source);
    }

    DataFrameWriter<Row> writer(Dataset<Row> rows) {
      return rows.write()
          .format(source)
          .option("compression", compression)
          .mode(SaveMode.Overwrite);
    }

    String directory() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final DataType MONEY = DataTypes.createDecimalType(12, 2);

  private TpchTables() {}

  static StructType schema(TpchTable<?> table) {
    return new StructType(
        table.getColumns().stream()
            .map(
                column ->
                    new StructField(column.getColumnName(), type(column), true, Metadata.empty()))
            .toArray(StructField[]::new));
  }

  private static DataType type(TpchColumn<?> column) {
    return switch (column.getType().getBase()) {
      case IDENTIFIER -> DataTypes.LongType;
      case INTEGER -> DataTypes.IntegerType;
      case DATE -> DataTypes.DateType;
      case DOUBLE -> MONEY;
      case VARCHAR -> DataTypes.StringType;
    };
  }

  /** Days since 1970-01-01, doubles in hundredths: the generator has no other kinds. */
  private static <E extends TpchEntity> Object value(TpchColumn<E> column, E entity) {
    return switch (column.getType().getBase()) {
      case IDENTIFIER -> column.getIdentifier(entity);
      case INTEGER -> column.getInteger(entity);
      case DATE -> Date.valueOf(LocalDate.ofEpochDay(column.getDate(entity)));
      case DOUBLE -> BigDecimal.valueOf(Math.round(column.getDouble(entity) * 100), 2);
      case VARCHAR -> column.getString(entity);
    };
  }

  /**
   * Writes all tables in some formats, {@code directory/format/table}.
   *
   * @param scale 1 for a gigabyte of text
   * @param files how many files a large table gets; a small one gets one
   */
  static void generate(
      SparkSession spark, double scale, int files, List<Format> formats, String directory) {
    for (TpchTable<?> table : TpchTable.getTables()) {
      generate(spark, table, scale, files, formats, directory);
    }
  }

  /** Writes one of them as that does. */
  static void generate(
      SparkSession spark,
      TpchTable<?> table,
      double scale,
      int files,
      List<Format> formats,
      String directory) {
    Dataset<Row> rows = rows(spark, table, scale, isSmall(table) ? 1 : files);
    for (Format format : formats) {
      format.writer(rows).save(location(directory, format, table));
    }
  }

  private static boolean isSmall(TpchTable<?> table) {
    return table.equals(TpchTable.NATION) || table.equals(TpchTable.REGION);
  }

  private static Dataset<Row> rows(
      SparkSession spark, TpchTable<?> table, double scale, int parts) {
    String name = table.getTableName();
    List<Integer> numbers = IntStream.rangeClosed(1, parts).boxed().toList();
    JavaRDD<Row> rows =
        JavaSparkContext.fromSparkContext(spark.sparkContext())
            .parallelize(numbers, parts)
            .flatMap(part -> part(TpchTable.getTable(name), scale, part, parts).iterator());
    return spark.createDataFrame(rows, schema(table));
  }

  private static <E extends TpchEntity> Iterable<Row> part(
      TpchTable<E> table, double scale, int part, int parts) {
    List<TpchColumn<E>> columns = table.getColumns();
    return () ->
        StreamSupport.stream(table.createGenerator(scale, part, parts).spliterator(), false)
            .map(
                entity -> {
                  List<Object> values = new ArrayList<>(columns.size());
                  columns.forEach(column -> values.add(value(column, entity)));
                  return RowFactory.create(values.toArray());
                })
            .iterator();
  }

  /** Makes the tables of one format the ones that queries name. */
  static void register(SparkSession spark, Format format, String directory) {
    for (TpchTable<?> table : TpchTable.getTables()) {
      register(spark, table, format, directory);
    }
  }

  /** Makes one table of one format the one that queries name. */
  static void register(SparkSession spark, TpchTable<?> table, Format format, String directory) {
    read(spark, format, directory, table).createOrReplaceTempView(table.getTableName());
  }

  /** One table; its schema is told, so that no file is opened to find it. */
  static Dataset<Row> read(
      SparkSession spark, Format format, String directory, TpchTable<?> table) {
    return format.reader(spark).schema(schema(table)).load(location(directory, format, table));
  }

  private static String location(String directory, Format format, TpchTable<?> table) {
    return directory + '/' + format.directory() + '/' + table.getTableName();
  }
}
