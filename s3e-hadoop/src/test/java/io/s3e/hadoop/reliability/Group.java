// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import java.nio.file.Path;
import java.util.List;

/** Scenarios that share a table, each with what it shows. */
enum Group {
  SCANS("scans", "A scan of 1 GiB while a share of all GETs fails") {
    @Override
    List<Figures> run(Subject subject, Path directory) throws Exception {
      return Scans.run(subject);
    }
  },
  THROTTLED("throttled", "503 for 20 s") {
    @Override
    List<Figures> run(Subject subject, Path directory) throws Exception {
      return Outages.throttled(subject);
    }
  },
  REFUSED("refused", "The store restarts: connections are refused") {
    @Override
    List<Figures> run(Subject subject, Path directory) throws Exception {
      return Outages.refused(subject);
    }
  },
  TLS_RESETS("tls", "Connections are reset before the TLS handshake for 10 s") {
    @Override
    List<Figures> run(Subject subject, Path directory) throws Exception {
      return Outages.tlsResets(subject, directory);
    }
  },
  TAIL("tail", "GETs that are late: 16 readers, 256 KiB by position") {
    @Override
    List<Figures> run(Subject subject, Path directory) throws Exception {
      return Tails.run(subject);
    }
  },
  NEIGHBOURS("neighbours", "8 readers beside 40 whose GETs hang") {
    @Override
    List<Figures> run(Subject subject, Path directory) throws Exception {
      return Neighbours.run(subject);
    }
  },
  CREDENTIALS("credentials", "Credentials and clocks, 8 readers") {
    @Override
    List<Figures> run(Subject subject, Path directory) throws Exception {
      return CredentialFaults.run(subject);
    }
  },
  CHANGES("changes", "An object of 128 MiB changes when it is half read") {
    @Override
    List<Figures> run(Subject subject, Path directory) throws Exception {
      return Changes.figures(subject);
    }
  };

  private final String key;
  private final String title;

  Group(String key, String title) {
    this.key = key;
    this.title = title;
  }

  /** What it is called on the command line and in files. */
  String key() {
    return key;
  }

  String title() {
    return title;
  }

  /** Runs all scenarios with one stream. */
  abstract List<Figures> run(Subject subject, Path directory) throws Exception;
}
