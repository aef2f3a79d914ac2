#!/usr/bin/env python3
"""Reads a page of `pmodel report --as page` without a browser: tests/page.py rows PAGE SIZE prints, for a size as
the page calls it ("N=80"), each row's cells as the page would show them, with tabs between; `facts`
what the page says of itself, as JSON."""
import base64
import json
import re
import sys
import zlib


def unpack(path):
    text = open(path, encoding="utf-8").read()
    data = re.search(r'<script id="data" type="text/plain">([^<]*)</script>', text).group(1)
    whole = zlib.decompress(base64.b64decode(data))
    length = int.from_bytes(whole[:4], "little")
    return json.loads(whole[4:4 + length]), whole[4 + length:]


def cell(page, figures, n, index):
    style, digits = figures[index], 256 * figures[n + index] + figures[2 * n + index]
    if style == 0:
        return page["codes"]["texts"][digits]
    mark, decimals, suffix = page["codes"]["styles"][style]
    text = str(digits).rjust(decimals + 1, "0")
    return mark + (text[:-decimals] + "." + text[-decimals:] if decimals else text) + suffix


def rows(page, figures, size):
    n_rows, points = len(page["rows"]), page["points"]
    n = sum(len(m["fields"]) for m in page["machines"]) * n_rows * len(points)
    point = max(i for i, p in enumerate(points) if p["size"] == size)  # measured ones are last
    fields = page["machines"][0]["fields"]
    wanted = ["self_seconds", "self_share", "label", "source", "bound"]
    wanted += [f["name"] for f in fields if f["name"].startswith("misses:")]
    at = {f["name"]: i for i, f in enumerate(fields)}
    for row in range(n_rows):
        cells = [page["rows"][row][name] if name in ("label", "source") else
                 cell(page, figures, n, (at[name] * n_rows + row) * len(points) + point) for name in wanted]
        if cells[0]:
            print("\t".join(cells))


def main():
    page, figures = unpack(sys.argv[2])
    if sys.argv[1] == "rows":
        rows(page, figures, sys.argv[3])
    else:
        facts = {name: page[name] for name in ("format", "version", "program", "parameter", "points", "block_sizes")}
        facts["rows"], facts["sources"] = len(page["rows"]), list(page["sources"])
        facts["machines"] = [m["name"] for m in page["machines"]]
        print(json.dumps(facts))


main()
