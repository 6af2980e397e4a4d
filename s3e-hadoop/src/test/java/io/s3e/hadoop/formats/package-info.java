/**
 * Readers of Parquet and ORC, in the versions that engines bring, over S3E: what they read is the
 * same whether columns are fetched ahead or not, whatever the store does and whatever a footer
 * says.
 */
package io.s3e.hadoop.formats;
