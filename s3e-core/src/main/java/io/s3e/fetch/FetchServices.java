// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.fault.Stores;
import io.s3e.memory.Admission;
import io.s3e.memory.BlockIndex;

/** The parts of an engine that the fetchers of all its tenants share. */
public record FetchServices(
    BlockIndex index, Admission admission, FetchTimer timer, Stores stores, GetLedger ledger) {}
