package io.s3e.disk;
import java.io.IOException;
abstract class SharedRegions implements Regions {
  static SharedRegions open(DiskIo io, java.nio.file.Path d, DiskCacheConfig c, long capacity, ChunkIndex i, StoredObjects o) throws IOException { throw new IOException("not yet"); }
  abstract SharedClaims claims();
}
