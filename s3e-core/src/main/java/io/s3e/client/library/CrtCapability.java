package io.s3e.client.library;

/** How much of the CRT can be used, from nothing to everything; a later one includes the former. */
public enum CrtCapability {
  /** No jar, no native library for this platform, or a version that lacks what S3E calls. */
  UNUSABLE,
  /** Reads; bodies pass through byte arrays (aws-crt before 0.50). */
  COPIES,
  /** Reads; bodies also come in borrowed direct buffers (aws-crt 0.50 and later). */
  LENDS
}
