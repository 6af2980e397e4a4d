// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.io.File;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.WebDriver;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/**
 * The tab in a real browser: Chromium with its driver, where the machine has both ({@code
 * s3e.test.chromium} and {@code s3e.test.chromedriver} name them elsewhere).
 */
@Slow
class BrowserTest {
  private static final int STAGES = 9;
  private static LiveSpark spark;

  @BeforeAll
  static void start() {
    spark = new LiveSpark(LiveSpark.settings());
    for (int stage = 0; stage < STAGES; stage++) {
      spark
          .java
          .parallelize(List.of(1, 2), 2)
          .foreach(any -> Pause.millis(200, "a task that is seen to run"));
    }
    SampleReads.events(0, STAGES).forEach(spark.model::add);
  }

  @AfterAll
  static void stop() {
    spark.close();
  }

  @Test
  void showsABarThatIsAsWideAsItsFigures(@TempDir Path profile) throws Exception {
    ChromeDriver browser = open(profile, Map.of());
    try {
      browser.get(tab());
      assertThat(browser.getTitle()).isEqualTo("Reads of S3E - S3E");
      double all = width(browser.findElement(By.cssSelector("#s3e-served .s3e-bar")));
      assertThat(all).isGreaterThan(600);
      double parts = 0;
      for (String source : List.of("s3e-memory", "s3e-disk", "s3e-s3")) {
        double part = width(browser.findElement(By.cssSelector("#s3e-served .s3e-bar ." + source)));
        assertThat(part).as(source).isGreaterThan(0.05 * all);
        parts += part;
      }
      assertThat(parts).isCloseTo(all, within(2.0));
    } finally {
      browser.quit();
    }
  }

  @Test
  void sortsByAClickOnAHeading(@TempDir Path profile) throws Exception {
    ChromeDriver browser = open(profile, Map.of());
    try {
      browser.get(tab());
      WebElement tasks = browser.findElement(By.xpath("//table[@id='s3e-stages']//th[.='Tasks']"));
      assertThat(column(browser, tasks)).hasSize(STAGES).isNotEqualTo(sorted(browser, tasks));
      tasks.click();
      assertThat(column(browser, tasks)).hasSize(STAGES).isEqualTo(sorted(browser, tasks));
    } finally {
      browser.quit();
    }
  }

  @Test
  void asksNobodyElseAndHasNothingToComplainOf(@TempDir Path profile) throws Exception {
    ChromeDriver browser = open(profile, Map.of());
    try {
      browser.get(tab());
      @SuppressWarnings("unchecked")
      List<String> resources =
          (List<String>)
              browser.executeScript(
                  "return performance.getEntriesByType('resource').map(r => r.name)");
      assertThat(resources).isNotEmpty().allMatch(name -> name.startsWith(spark.ui().toString()));
      assertThat(browser.manage().logs().get(LogType.BROWSER).getAll())
          .noneMatch(entry -> entry.getLevel().intValue() >= Level.SEVERE.intValue());
    } finally {
      browser.quit();
    }
  }

  @Test
  void isWholeWithoutScripts(@TempDir Path profile) throws Exception {
    ChromeDriver browser =
        open(profile, Map.of("profile.managed_default_content_settings.javascript", 2));
    try {
      browser.get(tab());
      assertThat(browser.findElements(By.cssSelector("#s3e-stages tbody tr"))).hasSize(STAGES);
      assertThat(browser.findElement(By.id("s3e-served")).isDisplayed()).isTrue();
      browser.findElement(By.cssSelector("#s3e-stages tbody a")).click();
      assertThat(browser.findElement(By.tagName("body")).getText())
          .contains("Details for Stage " + (STAGES - 1));
    } finally {
      browser.quit();
    }
  }

  private static String tab() {
    return spark.ui().resolve(URI.create("/s3e/")).toString();
  }

  private static double width(WebElement element) {
    return element.getRect().getWidth();
  }

  private static List<Double> column(WebDriver browser, WebElement heading) {
    List<WebElement> headings = browser.findElements(By.cssSelector("#s3e-stages th"));
    int place = headings.indexOf(heading) + 1;
    return browser
        .findElements(By.cssSelector("#s3e-stages tbody td:nth-child(" + place + ")"))
        .stream()
        .map(cell -> Double.valueOf(cell.getText().replace(",", "")))
        .toList();
  }

  private static List<Double> sorted(WebDriver browser, WebElement heading) {
    return column(browser, heading).stream().sorted().toList();
  }

  private static ChromeDriver open(Path profile, Map<String, Object> preferences) {
    File chromium = program("s3e.test.chromium", "/usr/bin/chromium");
    File driver = program("s3e.test.chromedriver", "/usr/bin/chromedriver");
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    ChromeOptions options = new ChromeOptions();
    options.setBinary(chromium);
    options.addArguments(
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--user-data-dir=" + profile);
    options.setExperimentalOption("prefs", preferences);
    options.setCapability("goog:loggingPrefs", logs);
    ChromeDriver browser =
        new ChromeDriver(
            new ChromeDriverService.Builder().usingDriverExecutable(driver).build(), options);
    browser.manage().window().setSize(new Dimension(1500, 1000));
    return browser;
  }

  /** Skips the test, and says so, where the machine has no such program. */
  private static File program(String property, String usual) {
    Optional<File> found =
        Stream.of(System.getProperty(property, usual))
            .map(File::new)
            .filter(File::canExecute)
            .findAny();
    if (found.isEmpty()) {
      String reason = "No browser: " + usual + " is not there, and " + property + " names no other";
      System.out.println(reason);
      Assumptions.abort(reason);
    }
    return found.get();
  }
}
