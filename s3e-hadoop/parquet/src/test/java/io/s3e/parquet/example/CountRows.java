// SPDX-License-Identifier: Apache-2.0
package io.s3e.parquet.example;

import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.client.CredentialsSource;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.parquet.S3EInputFile;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.schema.MessageType;

/**
 * Reads one column of a Parquet file by parquet-java, without a file system of Hadoop: row group by
 * row group, whose column chunks are asked for together, and those of the next ones ahead.
 *
 * <p>Arguments: bucket, key, column, access key, secret key, region, and the endpoint of a store
 * that is not AWS.
 */
public final class CountRows {
  private CountRows() {}

  public static void main(String[] args) throws IOException {
    AwsClientSettings.Builder settings =
        AwsClientSettings.builder()
            .credentials(CredentialsSource.of(args[3], args[4]))
            .region(args[5]);
    if (args.length > 6) {
      settings.endpoint(URI.create(args[6])).pathStyle(true);
    }
    ParquetReadOptions options =
        ParquetReadOptions.builder(new PlainParquetConfiguration())
            .withUseHadoopVectoredIo(true)
            .build();
    try (S3E engine = S3E.create(S3EConfig.DEFAULTS, AwsClients.crt(settings.build()));
        ParquetFileReader reader =
            ParquetFileReader.open(
                S3EInputFile.of(engine, new ObjectRef(args[0], args[1])), options)) {
      MessageType schema = reader.getFileMetaData().getSchema();
      reader.setRequestedSchema(
          new MessageType(schema.getName(), List.of(schema.getType(args[2]))));
      long rows = 0;
      for (PageReadStore group = reader.readNextRowGroup();
          group != null;
          group = reader.readNextRowGroup()) {
        rows += group.getRowCount();
      }
      System.out.println(args[2] + ": " + rows + " rows");
    }
  }
}
