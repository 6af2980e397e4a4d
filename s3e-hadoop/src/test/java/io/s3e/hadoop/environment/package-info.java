/** Processes whose surroundings differ: trust, proxies, regions, credentials, memory. */
package io.s3e.hadoop.environment;
