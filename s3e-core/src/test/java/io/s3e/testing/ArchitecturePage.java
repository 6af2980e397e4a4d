// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The names of classes in docs/ARCHITECTURE.md. */
public final class ArchitecturePage {
  private static final Path PAGE = Path.of("../docs/ARCHITECTURE.md");

  /** In running text, with or without a method: {@code `Gate`}, {@code `Fetcher.find`}. */
  private static final Pattern QUOTED = Pattern.compile("`([A-Z]\\w*[a-z]\\w*)(\\.[\\w.]+)?`");

  /** In pictures and lists of classes: with two humps, since those with one are words as well. */
  private static final Pattern DRAWN = Pattern.compile("\\b([A-Z]\\w*[a-z0-9][A-Z]\\w*[a-z]\\w*)");

  private final String text;

  private ArchitecturePage(String text) {
    this.text = text;
  }

  public static ArchitecturePage read() throws IOException {
    return new ArchitecturePage(Files.readString(PAGE));
  }

  /** A section by its heading. */
  public ArchitecturePage section(String heading) {
    int start = text.indexOf("\n## " + heading + "\n");
    if (start < 0) {
      throw new IllegalStateException(PAGE + " has no section " + heading);
    }
    int end = text.indexOf("\n## ", start + 1);
    return new ArchitecturePage(text.substring(start, end < 0 ? text.length() : end));
  }

  /** Simple names, in order. */
  public Set<String> classNames() {
    Set<String> names = new TreeSet<>();
    for (Pattern pattern : new Pattern[] {QUOTED, DRAWN}) {
      for (Matcher name = pattern.matcher(text); name.find(); ) {
        names.add(name.group(1));
      }
    }
    return names;
  }
}
