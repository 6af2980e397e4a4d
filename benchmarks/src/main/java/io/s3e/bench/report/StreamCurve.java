// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.report;

import io.s3e.bench.Summary;
import io.s3e.bench.workload.WorkloadKind;
import java.awt.BasicStroke;
import java.awt.Font;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.XYStyler;

/** The curve of total throughput over the number of streams that read at once. */
final class StreamCurve {

  private static final float[] DASHES = {6f, 4f};

  private StreamCurve() {}

  /** How many streams read at once; 0 for a workload that is no point of the curve. */
  static int streams(Summary summary) {
    WorkloadKind kind = WorkloadKind.of(summary.workload());
    boolean sequential = kind.label().equals("seq") || kind.data() == WorkloadKind.Data.STREAMS;
    boolean warm = kind.jvm() == WorkloadKind.Jvm.KEPT;
    return sequential && warm && kind.passes() == 1 ? kind.streams() : 0;
  }

  /**
   * Draws a line for each engine.
   *
   * @return null when there are no two numbers of streams
   */
  static @Nullable XYChart chart(List<Summary> summaries, int width, int height) {
    List<Summary> points =
        summaries.stream().filter(s -> streams(s) > 0 && s.hasFigures()).toList();
    if (points.stream().mapToInt(StreamCurve::streams).distinct().count() < 2) {
      return null;
    }
    XYChart chart =
        new XYChartBuilder()
            .width(width)
            .height(height)
            .title("All streams together, MB/s by number of streams")
            .theme(Styler.ChartTheme.GGPlot2)
            .build();
    XYStyler style = chart.getStyler();
    style.setXAxisLogarithmic(true);
    style.setYAxisMin(0.0);
    style.setLegendPosition(Styler.LegendPosition.OutsideE);
    style.setChartTitleFont(new Font(Font.SANS_SERIF, Font.BOLD, 14));
    for (String engine : points.stream().map(s -> s.engine().name()).distinct().toList()) {
      addLine(chart, engine, points);
    }
    return chart;
  }

  private static void addLine(XYChart chart, String engine, List<Summary> points) {
    SortedMap<Integer, Double> line = new TreeMap<>();
    boolean ceiling = false;
    for (Summary point : points) {
      if (point.engine().name().equals(engine)) {
        line.put(streams(point), point.median(Figure.RATE.value()));
        ceiling = point.engine().isCeiling();
      }
    }
    XYSeries series =
        chart.addSeries(
            engine,
            line.keySet().stream().mapToDouble(Integer::doubleValue).toArray(),
            line.values().stream().mapToDouble(Double::doubleValue).toArray());
    if (ceiling) {
      series.setLineStyle(
          new BasicStroke(2f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_MITER, 10f, DASHES, 0f));
    }
  }
}
