#!/usr/bin/env python3
"""The tables of README.md that say how good predictions are, from the pages that the judges of bench/ wrote.

    figures.py            prints "ok - …" or "FAIL - …": are the tables of README.md what the pages say?
    figures.py --renew    writes them

Each row: what is predicted, the page, and of its figures there the first cell of the row and the number of the column.
"""
import re
import sys

ROWS = [
    ("accesses at twice the measured sizes", "validation",
     ("`accesses_program_median`", 1), ("`accesses_program_worst`", 1)),
    ("misses of fully associative caches, at twice the size", "validation",
     ("`misses_program_median`", 1), ("`misses_program_worst`", 1)),
    ("the same at four times the size", "validation",
     ("`misses_program_median_4n`", 1), ("`misses_program_worst_4n`", 1)),
    ("misses in caches with sets, beside cachegrind's", "misses",
     ("`setassoc_misses_median`", 1), ("`setassoc_misses_worst`", 1)),
    ("cycles of innermost loops from the first cache (worst: of nine in ten)", "schedule",
     ("pmodel, as probed", 2), ("pmodel, as probed", 3)),
    ("time of programs, two to eight times beyond, beside a clock", "time",
     ("`time_program_median`", 1), ("`time_program_worst`", 1)),
    ("time of their loop nests", "time", ("`time_loop_median`", 1), None),
    ("time on a processor that is not at hand", "time", ("`time_cross_median`", 1), None),
    ("parallel time on another network, in the setting of a published study", "peaks",
     ("ratio of predicted times, network of the pattern", 1), None),
]
INTERVALS = [
    ("counts and misses of loops", "validation", ("`interval_coverage_80`", 1)),
    ("misses of caches", "validation", ("`misses_interval_coverage_80`", 1)),
    ("misses in caches with sets", "misses", ("`setassoc_interval_coverage_80`", 1)),
    ("time of programs and nests", "time", ("`time_interval_coverage_80`", 1)),
]
TABLES = [
    (["| predicted | typical error | worst | page |", "| --- | ---: | ---: | --- |"], ROWS),
    (["| 80% intervals of | hold | page |", "| --- | ---: | --- |"], INTERVALS),
]


def cell(page, key):
    if key is None:
        return ""
    first, column = key
    with open(f"docs/{page}.md", encoding="utf-8") as lines:
        for line in lines:
            cells = [text.strip() for text in line.strip().strip("|").split("|")]
            if line.startswith("|") and cells[0] == first:
                return cells[column]
    sys.exit(f"figures: docs/{page}.md has no row {first}")


def main():
    text = renewed = open("README.md", encoding="utf-8").read()
    for head, rows in TABLES:
        lines = head + [f"| {what} | " + " | ".join(cell(page, key) for key in keys) + f" | [{page}.md](docs/{page}.md) |"
                        for what, page, *keys in rows]
        table = "\n".join(lines) + "\n"
        if not re.search(re.escape(head[0]) + r"\n(\|.*\n)+", renewed):
            sys.exit(f"figures: README.md has no table {head[0]}")
        renewed = re.sub(re.escape(head[0]) + r"\n(\|.*\n)+", lambda _: table, renewed)
    if text != renewed and "--renew" in sys.argv:
        open("README.md", "w", encoding="utf-8").write(renewed)
    elif text != renewed:
        print("FAIL - the figures of README.md are those of the pages: `make golden` renews the tables")
        return
    print("ok - the figures of README.md are those of the pages")


main()
