"""Are the intervals of a run those that callgrind saw?

    interval_counts.py INTERVALS.json CALLGRIND_PREFIX [PROCESS]

INTERVALS.json is of `pmodel export --intervals`, of one run; looked at is the first thread of PROCESS
(its ordinal; 0), of which each interval must have a row of its own; CALLGRIND_PREFIX.1, .2, …
and CALLGRIND_PREFIX are callgrind's dumps of the same (non-PIE) program, one at the end of each
interval and one at its own.
Executions of each basic block that is entered by a counted edge must be those of its first
instruction, interval by interval: the intervals of a run form a chain, in which each begins where the
one before ended."""

import collections
import glob
import json
import sys


def read_dump(path):
    """Executions of each instruction in one of callgrind's dumps."""
    executed = collections.Counter()
    skip = False
    for line in open(path):
        if line.startswith("calls="):
            skip = True
        elif line.startswith("0x"):
            if not skip:
                words = line.split()
                executed[int(words[0], 16)] += int(words[1])
            skip = False
    return executed


def read_kinds(path, process):
    runs = json.load(open(path))["runs"]
    assert len(runs) == 1, "one run is expected"
    kinds = {}
    for kind in runs[0]["kinds"]:
        intervals = {}
        for row in kind["rows"]:
            if (row["process"], row["thread"]) != (process, 0):
                continue
            blocks = collections.Counter()
            for edge in row["edges"]:
                if edge["to_address"] is not None:
                    blocks[int(edge["to_address"], 16)] += edge["count"]
            assert row["intervals"] == 1, "each interval has a row of its own"
            intervals[row["first"]] = blocks
        if intervals:
            kinds[kind["begin_path"], kind["end_path"]] = [intervals[i] for i in sorted(intervals)]
    return kinds


def main():
    kinds = read_kinds(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
    prefix = sys.argv[2]
    dumps = sorted(glob.glob(prefix + ".*"), key=lambda name: int(name.rsplit(".", 1)[1]))
    dumps = [read_dump(name) for name in dumps + [prefix]]
    known = {address for rows in kinds.values() for blocks in rows for address in blocks}
    dumps = [{a: n for a, n in dump.items() if a in known} for dump in dumps]
    n = sum(len(rows) for rows in kinds.values())
    if n != len(dumps):
        sys.exit(f"{n} intervals, callgrind saw {len(dumps)}")
    taken = collections.Counter()
    at = 0
    for i, dump in enumerate(dumps):
        for (begin, end), rows in kinds.items():
            ordinal = taken[begin, end]
            if begin == at and ordinal < len(rows) and +rows[ordinal] == dump:
                taken[begin, end] += 1
                at = end
                break
        else:
            for (begin, end), rows in kinds.items():
                if begin == at and taken[begin, end] < len(rows):
                    blocks = rows[taken[begin, end]]
                    print(f"kind {begin}-{end}:", {hex(a): (blocks[a], dump.get(a, 0))
                          for a in sorted(set(blocks) | set(dump)) if blocks[a] != dump.get(a, 0)})
            sys.exit(f"interval {i} from path {at} is none of those that were measured")
    if at != 0:
        sys.exit("the last interval does not end where the thread does")
    print(f"{n} intervals of {len(kinds)} kinds, {len(known)} basic blocks")


main()
