package io.s3e.bench.report;

import io.s3e.bench.Measurement;
import io.s3e.bench.Summary;
import java.awt.Font;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.style.Styler;

/** Bar charts of the medians: one series an engine, one group of bars a workload. */
final class Charts {

  private static final int WIDTH = 900;
  private static final int HEIGHT = 420;

  private Charts() {}

  /**
   * Draws all charts into one picture, side by side two and two.
   *
   * @throws IOException when the picture cannot be written
   */
  static void write(List<Summary> summaries, Path file) throws IOException {
    List<CategoryChart> charts =
        List.of(
            chart(summaries, "Throughput", "MB/s", Measurement::megabytesPerSecond),
            chart(summaries, "Client CPU", "s/GB", Measurement::clientCpuPerGigabyte),
            chart(summaries, "Fetched", "bytes for each used", Measurement::fetchedPerUsed),
            chart(summaries, "Peak memory", "MiB", Measurement::peakResidentMebibytes));
    BitmapEncoder.saveBitmap(charts, 2, 2, file.toString(), BitmapEncoder.BitmapFormat.PNG);
  }

  private static CategoryChart chart(
      List<Summary> summaries, String title, String unit, ToDoubleFunction<Measurement> figure) {
    CategoryChart chart =
        new CategoryChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title + ", " + unit)
            .theme(Styler.ChartTheme.GGPlot2)
            .build();
    chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideE);
    chart.getStyler().setLabelsVisible(true);
    chart.getStyler().setLabelsFont(new Font(Font.SANS_SERIF, Font.PLAIN, 10));
    List<String> workloads = summaries.stream().map(Summary::workload).distinct().toList();
    List<String> engines = summaries.stream().map(s -> s.engine().name()).distinct().toList();
    for (String engine : engines) {
      List<@Nullable Double> values = new ArrayList<>();
      for (String workload : workloads) {
        double median = median(summaries, engine, workload, figure);
        values.add(Double.isFinite(median) ? rounded(median) : null);
      }
      chart.addSeries(engine, workloads, values);
    }
    return chart;
  }

  /** Three digits: the label on a bar has no room for more. */
  private static double rounded(double value) {
    return new BigDecimal(value).round(new MathContext(3)).doubleValue();
  }

  private static double median(
      List<Summary> summaries,
      String engine,
      String workload,
      ToDoubleFunction<Measurement> figure) {
    return summaries.stream()
        .filter(s -> s.engine().name().equals(engine) && s.workload().equals(workload))
        .mapToDouble(s -> s.median(figure))
        .findFirst()
        .orElse(Double.NaN);
  }
}
