// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.report;

import io.s3e.bench.Engine;
import io.s3e.bench.Measurement;
import io.s3e.bench.Summary;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.imageio.ImageIO;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.internal.chartpart.Chart;

/** The pictures of a report: one overview, and for the page several of each pass of a workload. */
final class Charts {

  /** The engines that the overview shows where there are many, beside the best raw client. */
  private static final Set<String> HEADLINE = Set.of("s3e", "classic", "prefetch", "analytics");

  private static final int MOST_IN_OVERVIEW = 6;
  private static final List<Figure> OF_EACH_SECTION =
      List.of(Figure.RATE, Figure.CLIENT_CPU, Figure.PEAK);

  private static final int WIDTH = 620;
  private static final int HEIGHT = 360;
  private static final int COLUMNS = 2;

  private Charts() {}

  /** Charts as PNG, by title, in the order of the page. */
  static Map<String, byte[]> ofPage(List<Summary> summaries) throws IOException {
    Map<String, byte[]> pictures = new LinkedHashMap<>();
    XYChart curve = StreamCurve.chart(summaries, 2 * WIDTH, HEIGHT + 80);
    if (curve != null) {
      pictures.put(curve.getTitle(), png(curve));
    }
    for (String section : sections(summaries)) {
      for (Figure figure : OF_EACH_SECTION) {
        String title = title(section, figure);
        CategoryChart bars = EngineBars.chart(title, of(section, summaries), figure, WIDTH, HEIGHT);
        if (bars != null) {
          pictures.put(title, png(bars));
        }
      }
    }
    return pictures;
  }

  /**
   * Draws what a reader should see first into one picture: throughput of the main engines in every
   * workload, numbers of streams as one curve, and the price of one stream.
   *
   * @throws IOException when the picture cannot be written
   */
  static void writeOverview(List<Summary> summaries, Path file) throws IOException {
    List<Summary> main = headline(summaries);
    List<Chart<?, ?>> charts = new ArrayList<>();
    XYChart curve = StreamCurve.chart(main, WIDTH, HEIGHT);
    for (String section : sections(main)) {
      List<Summary> block = of(section, main);
      boolean inCurve = curve != null && StreamCurve.streams(block.get(0)) > 1;
      if (!inCurve) {
        add(charts, title(section, Figure.RATE), block, Figure.RATE);
      }
      if (section.equals("seq")) {
        add(charts, title(section, Figure.DOLLARS), block, Figure.DOLLARS);
      }
    }
    if (curve != null) {
      charts.add(curve);
    }
    if (charts.isEmpty()) {
      throw new IllegalStateException("no engine has a figure");
    }
    writeGrid(charts, file);
  }

  private static void add(
      List<Chart<?, ?>> charts, String title, List<Summary> block, Figure figure) {
    CategoryChart bars = EngineBars.chart(title, block, figure, WIDTH, HEIGHT);
    if (bars != null) {
      charts.add(bars);
    }
  }

  /** Side by side, row by row; the last row may end early. */
  private static void writeGrid(List<Chart<?, ?>> charts, Path file) throws IOException {
    int columns = Math.min(COLUMNS, charts.size());
    int rows = (charts.size() + columns - 1) / columns;
    BufferedImage picture =
        new BufferedImage(columns * WIDTH, rows * HEIGHT, BufferedImage.TYPE_INT_RGB);
    Graphics2D pen = picture.createGraphics();
    pen.setColor(Color.WHITE);
    pen.fillRect(0, 0, picture.getWidth(), picture.getHeight());
    for (int i = 0; i < charts.size(); i++) {
      BufferedImage chart = BitmapEncoder.getBufferedImage(charts.get(i));
      pen.drawImage(chart, i % columns * WIDTH, i / columns * HEIGHT, null);
    }
    pen.dispose();
    ImageIO.write(picture, "png", file.toFile());
  }

  private static byte[] png(Chart<?, ?> chart) throws IOException {
    return BitmapEncoder.getBitmapBytes(chart, BitmapEncoder.BitmapFormat.PNG);
  }

  /** All when they are few; else the main engines and the best raw client. */
  private static List<Summary> headline(List<Summary> summaries) {
    if (summaries.stream().map(s -> s.engine().name()).distinct().count() <= MOST_IN_OVERVIEW) {
      return summaries;
    }
    Optional<String> ceiling = bestCeiling(summaries);
    return summaries.stream()
        .filter(s -> HEADLINE.contains(s.engine().name()) || isNamed(s.engine(), ceiling))
        .toList();
  }

  private static boolean isNamed(Engine engine, Optional<String> name) {
    return name.filter(engine.name()::equals).isPresent();
  }

  /** The raw client that reached most anywhere, so that one name stands for the ceiling. */
  private static Optional<String> bestCeiling(List<Summary> summaries) {
    return summaries.stream()
        .filter(s -> s.engine().isRaw() && s.hasFigures())
        .max(Comparator.comparingDouble(s -> s.median(Measurement::megabytesPerSecond)))
        .map(s -> s.engine().name());
  }

  private static List<String> sections(List<Summary> summaries) {
    return summaries.stream().map(Summary::section).distinct().toList();
  }

  private static List<Summary> of(String section, List<Summary> summaries) {
    return summaries.stream().filter(s -> s.section().equals(section)).toList();
  }

  private static String title(String section, Figure figure) {
    return switch (figure) {
      case RATE -> section + ": throughput, MB/s";
      case CLIENT_CPU -> section + ": client CPU, s/GB";
      case DOLLARS -> section + ": price, USD/TB";
      case PEAK -> section + ": peak memory, MiB";
      default -> section + ": " + figure.head();
    };
  }
}
