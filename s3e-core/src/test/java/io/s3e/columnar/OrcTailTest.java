// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ByteRange;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class OrcTailTest {
  private static final long SIZE = 21837123;
  private static final OrcCodecs CODECS = new OrcCodecs(OrcTailTest.class.getClassLoader());

  private static FileLayout parse(byte[] tail, long size, OrcCodecs codecs)
      throws MalformedException {
    byte[] last =
        Arrays.copyOfRange(tail, Math.max(0, tail.length - FileTail.LAST_BYTES), tail.length);
    FileTail found = FileTail.of(last, size);
    ByteRange footer = found.footer();
    int from = (int) (footer.start() - (size - tail.length));
    if (from < 0) {
      throw new MalformedException("the footer begins before what there is");
    }
    return found.layout(Arrays.copyOfRange(tail, from, from + (int) footer.length()), codecs);
  }

  private static void assertRecorded(FileLayout layout) {
    List<OrcWriter.Stripe> stripes = RecordedFiles.stripes();
    assertThat(layout.format).isEqualTo(FileLayout.Format.ORC);
    assertThat(layout.groups).isEqualTo(stripes.size()).isEqualTo(14);
    for (int i = 0; i < stripes.size(); i++) {
      OrcWriter.Stripe stripe = stripes.get(i);
      long data = stripe.offset() + stripe.index();
      assertThat(layout.stripeData(i)).isEqualTo(ByteRange.ofLength(data, stripe.data()));
      assertThat(layout.stripeFooter(i))
          .isEqualTo(ByteRange.ofLength(data + stripe.data(), stripe.footer()));
    }
  }

  @Test
  void aRealTailInSnappyIsReadByAircompressor() throws Exception {
    assertRecorded(parse(RecordedFiles.resource("files/lineitem-orc.tail16k"), SIZE, CODECS));
  }

  @Test
  void withoutAircompressorThereIsNoLayout() {
    OrcCodecs none = new OrcCodecs(ClassLoader.getPlatformClassLoader());
    byte[] tail = RecordedFiles.resource("files/lineitem-orc.tail16k");
    assertThatThrownBy(() -> parse(tail, SIZE, none))
        .isInstanceOf(MalformedException.class)
        .hasMessage("codec 2 is not to be had");
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4, 5})
  void aircompressorHasTheOtherCodecs(int kind) {
    assertThat(CODECS.codec(kind)).isNotNull();
  }

  @Test
  void lzoIsUnknown() {
    assertThat(CODECS.codec(3)).isNull();
    assertThat(CODECS.codec(77)).isNull();
  }

  /** A class with the method of aircompressor's, which does as it pleases. */
  public static final class Unruly {
    public int decompress(byte[] from, int at, int length, byte[] to, int start, int most) {
      if (length == 1) {
        throw new IllegalStateException("no");
      }
      return most + 1;
    }
  }

  @Test
  void acodecThatFailsIsAMalformedFile() {
    OrcCodecs.Codec codec = CODECS.byName(Unruly.class.getName());
    assertThatThrownBy(() -> codec.decompress(new byte[1], 0, 1, new byte[1]))
        .isInstanceOf(MalformedException.class);
    assertThatThrownBy(() -> codec.decompress(new byte[2], 0, 2, new byte[1]))
        .isInstanceOf(MalformedException.class);
  }

  /** CVE-2024-36114: before 0.27 a damaged chunk may end the JVM, which no catch prevents. */
  @ParameterizedTest
  @CsvSource({
    "0.9, false",
    "0.26, false",
    "0.26.1, false",
    "0.27, true",
    "0.30, true",
    "2.0, true"
  })
  void aircompressorIsLeftWhereItMayEndTheJvm(
      String version, boolean isUsed, @TempDir Path directory) throws Exception {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, version);
    Path jar = directory.resolve("codec.jar");
    String name = Unruly.class.getName();
    String entry = name.replace('.', '/') + ".class";
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
      out.putNextEntry(new ZipEntry(entry));
      out.write(RecordedFiles.class.getResourceAsStream("/" + entry).readAllBytes());
    }
    URL[] urls = {jar.toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
      assertThat(new OrcCodecs(loader).byName(name) != null).isEqualTo(isUsed);
    }
  }

  @ParameterizedTest
  @EnumSource
  void writtenTailsAreRead(OrcWriter.Compression compression) throws Exception {
    assertRecorded(parse(OrcWriter.tail(RecordedFiles.stripes(), compression, 256), SIZE, CODECS));
  }

  @Test
  void everyOffsetHasItsPlace() throws Exception {
    FileLayout layout =
        parse(
            OrcWriter.tail(RecordedFiles.stripes(), OrcWriter.Compression.NONE, 256), SIZE, CODECS);
    assertThat(layout.at(2).part()).isEqualTo(FileLayout.FilePart.NOWHERE);
    assertThat(layout.at(3).part()).isEqualTo(FileLayout.FilePart.STRIPE_INDEX);
    assertThat(layout.at(49868).part()).isEqualTo(FileLayout.FilePart.DATA);
    assertThat(layout.at(1622838)).matches(place -> place.startsAt(1622838));
    assertThat(layout.at(1622838).part()).isEqualTo(FileLayout.FilePart.STRIPE_FOOTER);
    assertThat(layout.at(1623182)).matches(place -> place.group() == 1);
  }

  @Test
  void stripesThatOverlapOrLieOutsideAreRefused() {
    List<List<OrcWriter.Stripe>> lies =
        List.of(
            List.of(new OrcWriter.Stripe(3, 10, 10, SIZE)),
            List.of(new OrcWriter.Stripe(SIZE, 10, 10, 10)),
            List.of(new OrcWriter.Stripe(3, Long.MAX_VALUE, 10, 10)),
            List.of(new OrcWriter.Stripe(3, -1, 10, 10)),
            List.of(new OrcWriter.Stripe(3, 10, 10, 5 << 20)),
            List.of(new OrcWriter.Stripe(3, 10, 10, 0), new OrcWriter.Stripe(23, 10, 10, 10)),
            List.of(new OrcWriter.Stripe(3, 10, 10, 10), new OrcWriter.Stripe(32, 1, 1, 1)));
    for (List<OrcWriter.Stripe> lie : lies) {
      byte[] tail = OrcWriter.tail(lie, OrcWriter.Compression.NONE, 256);
      assertThatThrownBy(() -> parse(tail, SIZE, CODECS)).isInstanceOf(MalformedException.class);
    }
  }

  @Test
  void theStreamsOfARealStripeAreRead() throws Exception {
    byte[] tail = RecordedFiles.resource("files/lineitem-orc.tail16k");
    FileLayout layout = parse(tail, SIZE, CODECS);
    OrcStripes stripes = new OrcStripes(layout);
    stripes.at(13);
    ByteRange footer = layout.stripeFooter(13);
    assertThat(stripes.wants()).isEqualTo(footer);
    int from = (int) (footer.start() - (SIZE - tail.length));
    stripes.onFooter(footer, Arrays.copyOfRange(tail, from, from + (int) footer.length()), CODECS);
    assertThat(stripes.wants()).isNull();
    Set<Integer> quantity = new HashSet<>();
    stripes.addNames(13, 21296102, 21296103, quantity);
    assertThat(stripes.rangesOf(13, quantity)).containsExactly(ByteRange.ofLength(21296102, 28884));
    stripes.addNames(13, 21472460, 21472460 + 28222, quantity);
    assertThat(stripes.rangesOf(13, quantity)).hasSize(2);
    assertThat(stripes.rangesOf(12, quantity)).isEmpty();
    stripes.at(0);
    assertThat(stripes.has(13)).isTrue();
  }

  /** As where nulls begin: a stream of the column lies where another one did. */
  @Test
  void aStreamOfAnotherNameIsNewWhereverItLies() throws Exception {
    List<OrcWriter.Stripe> two =
        List.of(new OrcWriter.Stripe(3, 0, 1000, 340), new OrcWriter.Stripe(1343, 0, 1000, 340));
    FileLayout layout = parse(OrcWriter.tail(two, OrcWriter.Compression.NONE, 256), SIZE, CODECS);
    OrcStripes stripes = new OrcStripes(layout);
    List<long[]> one = List.of(new long[] {1, 1, 1000});
    List<long[]> both = List.of(new long[] {0, 1, 100}, new long[] {1, 1, 900});
    stripes.onFooter(layout.stripeFooter(0), OrcWriter.stripeFooter(one, 340), CODECS);
    stripes.onFooter(layout.stripeFooter(1), OrcWriter.stripeFooter(both, 340), CODECS);
    Selection selection = new Selection(layout, FileLayout.FilePart.DATA, stripes);
    assertThat(selection.add(0, 3, 1003)).isTrue();
    assertThat(selection.add(0, 3, 1003)).isFalse();
    assertThat(selection.add(1, 1343, 2343)).isTrue();
  }

  @Test
  void streamsThatGoBeyondTheirStripeAreRefusedAndNoneIsWantedAgain() throws Exception {
    FileLayout layout =
        parse(
            OrcWriter.tail(RecordedFiles.stripes(), OrcWriter.Compression.NONE, 256), SIZE, CODECS);
    OrcStripes stripes = new OrcStripes(layout);
    ByteRange footer = stripes.wants();
    long whole = footer.start() - 3;
    List<long[]> fits = List.of(new long[] {1, 1, whole});
    long second = layout.stripeFooter(1).start() - layout.group(1).start();
    List<long[]> exceeds = List.of(new long[] {1, 1, second}, new long[] {1, 2, 1});
    stripes.onFooter(footer, OrcWriter.stripeFooter(fits, (int) footer.length()), CODECS);
    assertThat(stripes.has(0)).isTrue();
    stripes.onFooter(layout.stripeFooter(1), OrcWriter.stripeFooter(exceeds, 340), CODECS);
    assertThat(stripes.has(1)).isFalse();
    assertThat(stripes.wants()).isNull();
  }
}
