package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.SharedClaims.Claimant;
import io.s3e.testing.TestDirectories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file of claims that somebody has made up costs requests at most: a process goes on. */
public final class SharedClaimsFuzz {
  private static final long NOW = 1_000_000;
  private static final int CHUNKS = 100;

  private SharedClaimsFuzz() {}

  public static void fuzzerTestOneInput(byte[] input) throws IOException {
    Path directory = TestDirectories.empty("shared-claims-fuzz");
    Files.write(SharedInstance.claimsOf(directory), FuzzedRecords.repair(input));
    StoredObjects objects = new StoredObjects();
    StoredObject object = objects.intern(SharedRegionsRig.unknown("honest", CHUNKS));
    try (SharedClaims claims = SharedClaims.open(new NioDiskIo(), directory, objects, () -> NOW)) {
      claims.refresh();
      assertThat(claims.unclaimedFrom(object, 10, 20)).isBetween(0, 10);
      Claimant claimant = claims.claim(object, 10, 20);
      assertThat(claimant).isIn(Claimant.THIS_PROCESS, Claimant.ANOTHER);
      if (claimant == Claimant.THIS_PROCESS) {
        claims.ended(object, 10, 20);
      }
      assertThat(Files.size(SharedInstance.claimsOf(directory)))
          .isLessThanOrEqualTo(SharedClaims.MOST_BYTES);
    }
  }
}
