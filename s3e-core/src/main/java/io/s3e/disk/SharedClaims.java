package io.s3e.disk;
import java.io.IOException;
class SharedClaims {
  enum Claimant { THIS_PROCESS, ANOTHER, NOBODY }
  Claimant claim(StoredObject o, int first, int end) throws IOException { return Claimant.NOBODY; }
  void ended(StoredObject o, int first, int end) {}
  int unclaimedFrom(StoredObject o, int first, int end) { return end - first; }
}
