package io.s3e.disk;

import com.github.benmanes.caffeine.cache.Interner;

/**
 * The one instance of each {@link StoredObject} of a cache, as long as anything refers to it: an
 * entry of the index or a reader. Any thread.
 */
final class StoredObjects {
  private final Interner<StoredObject> instances = Interner.newWeakInterner();

  /** The instance that stands for what {@code object} is. */
  StoredObject intern(StoredObject object) {
    return instances.intern(object);
  }
}
