// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Says where a cache may lie, so that nobody but this user and root has a hand in it.
 *
 * <p><b>Shared scopes</b> ({@link #shared}) find their files again by name. From {@code
 * s3e-cache-<user>} on every directory is the user's own and for the user alone: a link, a file, a
 * foreign owner and rights of others are refused. Above it, up to the root of the file tree, every
 * directory belongs to the user or to root, and one that others may write has the sticky bit, as
 * sshd's StrictModes has it: otherwise somebody could rename a directory on the way and put another
 * one in its place. Where this does not hold, as in YARN's local directories and Kubernetes' {@code
 * emptyDir}, there is a {@link #doubt}: what lies there is to be encrypted, and opened in the
 * directory that was looked at ({@link #require}) and no other.
 *
 * <p><b>Scope private</b> ({@link #realDirectory}) needs none of this: its files have no name.
 *
 * <p>The file system says which user this process is, not the JVM: the owner of a file that was
 * just made. So the answer is right where user ids are mapped. Any thread.
 *
 * @param top the first directory that is the user's own
 * @param user of this process
 * @param doubt why somebody else could exchange {@code top}; null if nobody can
 */
record DirectoryGuard(Path top, UserPrincipal user, @Nullable RefusedDirectoryException doubt) {
  private static final Set<PosixFilePermission> OWNER_ALONE =
      PosixFilePermissions.fromString("rwx------");

  // Of st_mode, in inode(7).
  private static final int STICKY = 01000;
  private static final int WRITABLE_BY_OTHERS = 0022;
  private static final int PERMISSIONS = 07777;

  private static final int ROOT = 0;

  /**
   * Enters the directory that the user named, for a cache that processes share: makes the user's
   * own directory in it, or accepts that, and checks all above.
   */
  static DirectoryGuard shared(Path named) throws IOException {
    Path top = topIn(realDirectory(named));
    make(top);
    checkShape(top, attributesOf(top));
    UserPrincipal user = ownerOfNewFile(top);
    RefusedDirectoryException doubt = null;
    try {
      checkAncestor(Objects.requireNonNull(top.getParent()), user);
    } catch (RefusedDirectoryException e) {
      doubt = e;
    }
    DirectoryGuard guard = new DirectoryGuard(top, user, doubt);
    // Only now can nobody exchange it any more, but for the doubt.
    Object unused = guard.check(top);
    return guard;
  }

  /** The user's own directory in one that users may share. */
  static Path topIn(Path realDirectory) {
    // The name says whose it is; who the user is, is not decided by it.
    String user = System.getProperty("user.name", "").replaceAll("[^A-Za-z0-9_-]", "_");
    return realDirectory.resolve("s3e-cache-" + user);
  }

  /** From the root down: what lies below a directory that passed cannot be exchanged any more. */
  private static void checkAncestor(Path directory, UserPrincipal user) throws IOException {
    Path above = directory.getParent();
    if (above != null) {
      checkAncestor(above, user);
    }
    PosixFileAttributes attributes = attributesOf(directory);
    if (!attributes.isDirectory()) {
      throw new RefusedDirectoryException(directory, "is not a directory any more", "a directory");
    }
    UserPrincipal owner = attributes.owner();
    if (unixAttribute(directory, "uid") != ROOT && !owner.equals(user)) {
      throw new RefusedDirectoryException(
          directory,
          "is owned by '" + owner.getName() + "', who could exchange the cache below it",
          "root or the user of this process, '" + user.getName() + "'");
    }
    int mode = unixAttribute(directory, "mode");
    if ((mode & WRITABLE_BY_OTHERS) != 0 && (mode & STICKY) == 0) {
      String octal = String.format(Locale.ROOT, "%04o", mode & PERMISSIONS);
      throw new RefusedDirectoryException(
          directory,
          "has mode " + octal + ", so that others could exchange the cache below it",
          "one that only its owner may write (chmod go-w), or with the sticky bit (chmod +t)");
    }
  }

  private static int unixAttribute(Path path, String name) throws IOException {
    Object value = Files.getAttribute(path, "unix:" + name, LinkOption.NOFOLLOW_LINKS);
    return (Integer) Objects.requireNonNull(value);
  }

  private static UserPrincipal ownerOfNewFile(Path directory) throws IOException {
    try {
      Path probe = Files.createTempFile(directory, ".probe-", "");
      try {
        return Files.getOwner(probe, LinkOption.NOFOLLOW_LINKS);
      } finally {
        Files.deleteIfExists(probe);
      }
    } catch (AccessDeniedException e) {
      throw new RefusedDirectoryException(
          directory,
          "is owned by '" + attributesOf(directory).owner().getName() + "' and cannot be written",
          "a directory owned by the user of this process",
          e);
    }
  }

  /**
   * Makes a directory inside of the first one, and those between, or accepts them; what tells the
   * directory that was accepted from any other that has its name later.
   */
  Object require(Path directory) throws IOException {
    if (!directory.equals(top)) {
      Object unused = require(Objects.requireNonNull(directory.getParent()));
    }
    make(directory);
    return check(directory);
  }

  private Object check(Path directory) throws IOException {
    PosixFileAttributes attributes = attributesOf(directory);
    checkShape(directory, attributes);
    if (!attributes.owner().equals(user)) {
      throw new RefusedDirectoryException(
          directory,
          "is owned by '" + attributes.owner().getName() + "'",
          "the user of this process, '" + user.getName() + "'");
    }
    return Objects.requireNonNullElse(attributes.fileKey(), directory);
  }

  private static void checkShape(Path directory, PosixFileAttributes attributes)
      throws IOException {
    if (attributes.isSymbolicLink()) {
      String found = "is a symbolic link to " + Files.readSymbolicLink(directory);
      throw new RefusedDirectoryException(directory, found, "a directory, not a link");
    }
    if (!attributes.isDirectory()) {
      throw new RefusedDirectoryException(directory, "is not a directory", "a directory");
    }
    if (!attributes.permissions().equals(OWNER_ALONE)) {
      throw new RefusedDirectoryException(
          directory,
          "has the permissions " + PosixFilePermissions.toString(attributes.permissions()),
          PosixFilePermissions.toString(OWNER_ALONE) + " (chmod 700), for its owner alone");
    }
  }

  /** Makes a directory for the user alone, unless there is something of that name. */
  private static void make(Path directory) throws IOException {
    try {
      Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(OWNER_ALONE));
    } catch (FileAlreadyExistsException e) {
      // What is there is looked at next, whoever made it.
    }
  }

  private static PosixFileAttributes attributesOf(Path path) throws IOException {
    return Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * The directory that the user named, made if it is missing, as the file system itself names it.
   * Links are followed up to here: where the cache stands is the user's to say.
   */
  static Path realDirectory(Path named) throws IOException {
    if (!named.getFileSystem().supportedFileAttributeViews().contains("unix")) {
      String found = "is on a file system without owners and permissions";
      throw new RefusedDirectoryException(named, found, "one that has those of POSIX");
    }
    if (!Files.isDirectory(named)) {
      try {
        Files.createDirectories(named, PosixFilePermissions.asFileAttribute(OWNER_ALONE));
      } catch (FileAlreadyExistsException e) {
        throw new RefusedDirectoryException(named, "is not a directory", "a directory", e);
      }
    }
    return named.toRealPath();
  }
}
