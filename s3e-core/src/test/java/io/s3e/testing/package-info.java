/** Servers and fakes that the tests of all modules share, through the test jar. */
package io.s3e.testing;
