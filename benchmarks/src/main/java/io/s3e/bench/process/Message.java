// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.process;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;

/**
 * One line between a parent and its child.
 *
 * @param name a command on the way down; {@link #RESULT}, {@link #ERROR} or an event's name on the
 *     way up
 * @param body what it carries
 */
record Message(String name, JsonNode body) {
  static final String RESULT = "result";
  static final String ERROR = "error";

  Message {
    body = body == null ? NullNode.getInstance() : body;
  }
}
