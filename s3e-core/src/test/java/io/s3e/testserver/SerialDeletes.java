// SPDX-License-Identifier: Apache-2.0
package io.s3e.testserver;

import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.blobstore.ForwardingBlobStore;
import software.amazon.awssdk.services.s3.model.DeleteObjectRequest;
import software.amazon.awssdk.services.s3.model.DeleteObjectResponse;

/**
 * A store that deletes one object at a time. S3Proxy deletes the keys of a bulk request in
 * parallel, and its stores keep keys as paths: deleting {@code dir/} takes the mark off a directory
 * that still has files, deleting the last file removes parents that bear no mark. Where the two
 * meet, the mark is seen by the one and the file by the other, and an empty directory stays that
 * listings show for ever as a common prefix.
 */
final class SerialDeletes extends ForwardingBlobStore {
  SerialDeletes(BlobStore store) {
    super(store);
  }

  @Override
  public synchronized DeleteObjectResponse removeBlob(DeleteObjectRequest request) {
    return super.removeBlob(request);
  }
}
