#!/usr/bin/env python3
"""Are two drawings (SVG) the same: the same elements and texts, and numbers that are at most 3% of the width apart?

    pictures.py KEPT DRAWN     status 1 and the first difference if not
"""
import re
import sys

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def main():
    kept, drawn = (open(name, encoding="utf-8").read().splitlines() for name in sys.argv[1:3])
    width = float(re.search(r"viewBox='0 0 ([\d.]+)", "\n".join(kept)).group(1))
    if len(kept) != len(drawn):
        sys.exit(f"{len(drawn)} lines, not {len(kept)}")
    for number, (a, b) in enumerate(zip(kept, drawn), 1):
        far = [(x, y) for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)) if abs(float(x) - float(y)) > 0.03 * width]
        if NUMBER.sub("", a) != NUMBER.sub("", b) or far:
            sys.exit(f"line {number}:\n{a[:300]}\n{b[:300]}")


main()
