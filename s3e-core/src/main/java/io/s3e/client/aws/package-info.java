/**
 * Where clients come from: settings as users know them ({@link
 * io.s3e.client.aws.AwsClientSettings}) and clients over the CRT made from them ({@link
 * io.s3e.client.aws.AwsClients}).
 *
 * <p>Internal to S3E but for {@link AwsClientSettings}, {@link AwsClients}.
 */
@NullMarked
package io.s3e.client.aws;

import org.jspecify.annotations.NullMarked;
