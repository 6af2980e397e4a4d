// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.report;

import io.s3e.bench.Engine;
import io.s3e.bench.Summary;
import java.awt.Color;
import java.awt.Font;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.style.CategoryStyler;
import org.knowm.xchart.style.Styler;

/** Bars of one figure in one workload: a bar an engine, coloured by what kind of engine it is. */
final class EngineBars {

  private static final Color S3E = new Color(0x1b7f5c);
  private static final Color PEER = new Color(0x8d99a6);
  private static final Color CEILING = new Color(0xd9822b);
  private static final int LABEL_DEGREES = 35;

  private EngineBars() {}

  /**
   * Draws those of the summaries that have the figure.
   *
   * @param summaries of one section
   * @return null when none has it
   */
  static @Nullable CategoryChart chart(
      String title, List<Summary> summaries, Figure figure, int width, int height) {
    List<Summary> shown =
        summaries.stream().filter(s -> Double.isFinite(s.median(figure.value()))).toList();
    if (shown.isEmpty()) {
      return null;
    }
    CategoryChart chart =
        new CategoryChartBuilder()
            .width(width)
            .height(height)
            .title(title)
            .theme(Styler.ChartTheme.GGPlot2)
            .build();
    Font small = new Font(Font.SANS_SERIF, Font.PLAIN, 11);
    CategoryStyler style = chart.getStyler();
    style.setLegendVisible(false);
    style.setChartTitleFont(new Font(Font.SANS_SERIF, Font.BOLD, 14));
    style.setPlotGridVerticalLinesVisible(false);
    style.setXAxisLabelRotation(LABEL_DEGREES);
    style.setAxisTickLabelsFont(small);
    style.setLabelsVisible(true);
    style.setLabelsFont(small);
    style.setYAxisMin(0.0);
    // A series an engine, each with a value in one place only, so that each has its own colour.
    style.setOverlapped(true);
    style.setAvailableSpaceFill(0.8);
    List<String> names = shown.stream().map(s -> s.engine().name()).toList();
    for (int i = 0; i < shown.size(); i++) {
      List<@Nullable Double> values = new ArrayList<>();
      for (int place = 0; place < shown.size(); place++) {
        values.add(place == i ? rounded(shown.get(i).median(figure.value())) : null);
      }
      chart.addSeries(names.get(i), names, values).setFillColor(colour(shown.get(i).engine()));
    }
    return chart;
  }

  static Color colour(Engine engine) {
    if (engine.isCeiling()) {
      return CEILING;
    }
    return engine.isPeer() ? PEER : S3E;
  }

  /** Three digits: the label on a bar has no room for more. */
  private static double rounded(double value) {
    return new BigDecimal(value).round(new MathContext(3)).doubleValue();
  }
}
