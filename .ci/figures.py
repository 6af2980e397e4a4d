#!/usr/bin/env python3
"""Whether README's figures of the main job are what it measures here.

figures.py results.json    a line for each figure; ends with 1 if one differs by more than the spread of its rounds, or than runs differ by where that is less

Rates are the machine's too: on another one, or beside other work, they differ with right.
"""

import json
import pathlib
import re
import sys

# What a row of README's table begins with, and the workload whose rates it has; the row's columns, and the engine of each.
ROWS = {
    "scan by one stream": "seq",
    "4 of 16 Parquet columns": "vec",
    "the same, one of 20 GETs": "bad-vec",
    "the same by Iceberg's calls": "iceberg",
    "random reads": "rnd",
}
COLUMNS = {"S3E": "s3e", "S3A classic": "classic", "S3A analytics": "analytics", "Iceberg's S3FileIO": "iceberg-s3fileio"}
# Medians of whole runs on one quiet machine differed by so much. On a bad day one or two of 26 GETs are refused, and the rate is that of their second tries.
BETWEEN_RUNS = {"bad-vec": 0.3}
BETWEEN_OTHER_RUNS = 0.15


def said(readme):
    """README's figures, MB/s, by workload and engine."""
    rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in readme.splitlines() if line.startswith("|")]
    header = next(row for row in rows if set(COLUMNS) <= set(row))
    figures = {}
    for row in rows:
        workload = next((name for start, name in ROWS.items() if row[0].startswith(start)), None)
        for column, engine in COLUMNS.items() if workload else ():
            figure = re.match(r"\d+", row[header.index(column)])
            if figure:
                figures[workload, "iceberg-s3e" if (workload, engine) == ("iceberg", "s3e") else engine] = int(figure[0])
    missing = set(ROWS.values()) - {workload for workload, _ in figures}
    if missing:
        sys.exit(f"README.md has no figures of {', '.join(sorted(missing))}")
    return figures


def main():
    results = json.loads(pathlib.Path(sys.argv[1]).read_text())
    measured = {(each["workload"], each["engine"]): each for each in results["summaries"]}
    differ = 0
    for (workload, engine), figure in said(pathlib.Path("README.md").read_text()).items():
        summary = measured[workload, engine]
        rate, spread = (summary[part]["megabytesPerSecond"] for part in ("medians", "spreads"))
        agrees = abs(figure - rate) <= max(spread, BETWEEN_RUNS.get(workload, BETWEEN_OTHER_RUNS)) * rate
        differ += not agrees
        print(f"{workload:8} {engine:17} README {figure:5}   here {rate:5.0f} MB/s, spread {spread:4.0%}   {'' if agrees else 'DIFFERS'}".rstrip())
    sys.exit(1 if differ else 0)


main()
