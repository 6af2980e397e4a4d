package io.s3e.bench.workload;

/** One way of reading. Stateless; a run's state is in its {@link RunContext}. */
interface Workload {

  /**
   * Reads, checks and closes everything that it opened.
   *
   * @return checksum of what was read, for workloads whose bytes have no place in a reference file;
   *     0 for the others
   * @throws WrongBytesException when the file system returned something else than the object holds
   * @throws Exception whatever the file system throws: the run has failed
   */
  long run(RunContext context) throws Exception;
}
