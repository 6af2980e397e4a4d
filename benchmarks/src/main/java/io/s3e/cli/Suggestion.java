// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command or option that was probably meant by a name that does not exist. */
final class Suggestion {
  /** A name has a mistake in each so many of its letters at most. */
  private static final int LETTERS_FOR_A_MISTAKE = 3;

  private Suggestion() {}

  /** As a user would type it. */
  static Optional<String> of(UnmatchedArgumentException e) {
    CommandLine command = e.getCommandLine();
    String first = e.getUnmatched().get(0);
    if (first.startsWith("-")) {
      return nearest(first.replaceFirst("=.*", ""), command.getCommandSpec().optionsMap().keySet());
    }
    return nearest(first, command.getSubcommands().keySet())
        .map(name -> command.getCommandSpec().qualifiedName() + " " + name);
  }

  private static Optional<String> nearest(String typed, Collection<String> names) {
    return names.stream()
        .filter(
            name ->
                mistakes(typed, name)
                    <= Math.max(typed.length(), name.length()) / LETTERS_FOR_A_MISTAKE)
        .min(Comparator.<String>comparingInt(name -> mistakes(typed, name)));
  }

  /** Letters that are too many, lack, are others, or have changed places with the next one. */
  private static int mistakes(String typed, String name) {
    // rows[i][j]: mistakes between the first i letters of the one and the first j of the other.
    int[][] rows = new int[typed.length() + 1][name.length() + 1];
    Arrays.setAll(rows[0], j -> j);
    for (int i = 1; i <= typed.length(); i++) {
      rows[i][0] = i;
      for (int j = 1; j <= name.length(); j++) {
        int other = typed.charAt(i - 1) == name.charAt(j - 1) ? 0 : 1;
        rows[i][j] =
            Math.min(rows[i - 1][j - 1] + other, Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1));
        if (i > 1
            && j > 1
            && typed.charAt(i - 1) == name.charAt(j - 2)
            && typed.charAt(i - 2) == name.charAt(j - 1)) {
          rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
        }
      }
    }
    return rows[typed.length()][name.length()];
  }
}
