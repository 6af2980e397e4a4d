/**
 * Where clients come from: settings as users know them ({@link
 * io.s3e.client.aws.AwsClientSettings}) and the choice among S3E's clients ({@link
 * io.s3e.client.aws.AwsClients}).
 */
@NullMarked
package io.s3e.client.aws;

import org.jspecify.annotations.NullMarked;
