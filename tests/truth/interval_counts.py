"""Are the intervals of a run those that callgrind saw?

    interval_counts.py INTERVALS.json CALLGRIND_PREFIX [PROCESS]

INTERVALS.json is of `pmodel show --as intervals`, of one run; looked at is the first thread of PROCESS
(its ordinal; 0).  CALLGRIND_PREFIX.1, .2, … and CALLGRIND_PREFIX are callgrind's dumps of the same
(non-PIE) program, one at the end of each interval and one at its own.
Executions of each basic block that is entered by a counted edge must be those of its first
instruction, interval by interval.  The intervals of a run form a chain, in which each begins where the
one before ended; of kinds that begin alike that one is next whose interval, or whose row, can be the
dump; of a row of several intervals the sum must be that of the dumps."""

import collections
import glob
import json
import sys


def read_dump(path):
    """Executions of each instruction in one of callgrind's dumps, and what it was written before."""
    executed = collections.Counter()
    trigger = ""
    skip = False
    for line in open(path):
        if line.startswith("calls="):
            skip = True
        elif line.startswith("0x"):
            if not skip:
                words = line.split()
                executed[int(words[0], 16)] += int(words[1])
            skip = False
        elif line.startswith("desc: Trigger: --dump-before="):
            trigger = line.split("=", 1)[1].strip()
    return executed, trigger


class Row:
    """Intervals that follow each other; what is left of their blocks while dumps are taken away."""

    def __init__(self, row):
        self.n = row["intervals"]
        self.left = collections.Counter()
        for edge in row["edges"]:
            if edge["to_address"] is not None:
                self.left[int(edge["to_address"], 16)] += edge["count"]

    def can_be(self, dump):
        """Is DUMP the next of these intervals?"""
        if self.n == 1:
            return +self.left == dump
        return all(self.left[block] >= n for block, n in dump.items())

    def take(self, dump):
        self.left.subtract(dump)
        self.n -= 1


class Kind:
    def __init__(self, kind, rows):
        self.begin, self.end = kind["begin_path"], kind["end_path"]
        self.callee = kind["end"].split(" > ")[-1]
        self.rows = collections.deque(Row(row) for row in sorted(rows, key=lambda row: row["first"]))

    def ends_before(self, trigger):
        """Fortran's routines have many names."""
        names = (name.lower().strip("_") for name in (self.callee, trigger))
        mine, its = names
        return not trigger or mine in its or its.lstrip("p") in mine


def read_kinds(path, process):
    runs = json.load(open(path))["runs"]
    assert len(runs) == 1, "one run is expected"
    kinds = []
    for kind in runs[0]["kinds"]:
        rows = [row for row in kind["rows"] if (row["process"], row["thread"]) == (process, 0)]
        if rows:
            kinds.append(Kind(kind, rows))
    return kinds


def next_kind(kinds, at, dump, trigger):
    """That of the interval which begins at the path AT and has DUMP; None."""
    open_ones = [kind for kind in kinds if kind.begin == at and kind.rows]
    for named in (True, False):
        for kind in open_ones:
            if kind.rows[0].can_be(dump) and (not named or kind.ends_before(trigger)):
                return kind
    return None


def main():
    kinds = read_kinds(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
    prefix = sys.argv[2]
    dumps = sorted(glob.glob(prefix + ".*"), key=lambda name: int(name.rsplit(".", 1)[1]))
    dumps = [read_dump(name) for name in dumps + [prefix]]
    known = {block for kind in kinds for row in kind.rows for block in row.left}
    n = sum(row.n for kind in kinds for row in kind.rows)
    if n != len(dumps):
        sys.exit(f"{n} intervals, callgrind saw {len(dumps)}")
    at = 0
    for i, (executed, trigger) in enumerate(dumps):
        dump = {block: count for block, count in executed.items() if block in known}
        kind = next_kind(kinds, at, dump, trigger)
        if not kind:
            for one in (kind for kind in kinds if kind.begin == at and kind.rows):
                left = one.rows[0].left
                print(f"{one.begin} to {one.end} ({one.callee}):",
                      {hex(block): (left[block], dump.get(block, 0))
                       for block in sorted(set(left) | set(dump)) if left[block] != dump.get(block, 0)})
            sys.exit(f"interval {i} from path {at}, before {trigger}, is none of those that were measured")
        row = kind.rows[0]
        row.take(dump)
        if row.n == 0:
            kind.rows.popleft()
            if any(row.left.values()):
                sys.exit(f"interval {i}: the sum of a row of kind {kind.begin} to {kind.end} differs")
        at = kind.end
    if at != 0:
        sys.exit("the last interval does not end where the thread does")
    print(f"{n} intervals of {len(kinds)} kinds, {len(known)} basic blocks")


main()
