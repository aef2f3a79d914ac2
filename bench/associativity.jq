# From what bench/associativity.sh counts to the page docs/reuse.md.  A program is {name, size, histograms:
# {accesses, first, last}, cachegrind: [{level, ways, counts: {accesses, first, last} or null}]}; first and
# last are misses of the caches of 512 and 16384 blocks.

def row: "| " + join(" | ") + " |";
def rule: map(if . == "program" or . == "by" then "---" else "---:" end) | row;

def thousands: . / 1000 | if . >= 100 then round | tostring
    else (. * 10 | round / 10 | tostring) end;

# How far A is from B, in percent of B.
def off(a; b): if b == 0 then "-" else
    (100 * (a - b) / b) as $percent
    | if ($percent | fabs) < 0.005 then "0" else
        (if $percent > 0 then "+" else "−" end) + ($percent | fabs
            | (if . >= 10 then round elif . >= 1 then . * 10 | round / 10 else . * 100 | round / 100 end) | tostring) + "%"
      end end;

def counts(level; ways): [.cachegrind[] | select(.level == level and .ways == ways)][0].counts;
def ways(level): [.[0].cachegrind[] | select(.level == level).ways];

def figure: if . then thousands else "?" end;

# Misses of cachegrind's only cache of that size with WAYS ways; null if it did not end.
def misses(level; ways): counts(level; ways) | if . then .first else null end;
# Those of the usual hierarchy: the level with its usual ways, the last one behind the first.
def usual(level; least): counts("first"; least) | if . then .[level] else null end;

def table(level; least): . as $programs | ways(level) as $ways | ($ways | max) as $all
    | (if level == "last" then ["16 ways behind 32 KiB"] else [] end) as $behind
    | (["program", "N", "by histograms", "\($all) ways", "differs"]
        + ($ways[:-1] | reverse | map("\(.) ways")) + ["conflicts at \($ways[0])"] + $behind)
    | row, rule,
      ($programs[] | . as $p | $p.histograms[level] as $own | ($p | misses(level; $all)) as $full
        | [$p.name, ($p.size | tostring), ($own | thousands), ($full | figure),
           (if $full then off($own; $full) else "?" end)]
          + ($ways[:-1] | reverse | map(. as $w | $p | misses(level; $w) | figure))
          + [($p | misses(level; $ways[0])) as $few
                | if $full and $few then off($few; $full) else "?" end]
          + ($behind | map($p | usual(level; least) | figure))
        | row);

def page: . as $programs
    | "# Reuse distances beside caches with sets",
      "",
      "Written by `make validate` (`bench/associativity.sh`). Histograms of reuse distances give the misses of fully associative",
      "LRU caches. Cachegrind, a tool of valgrind, simulates caches of few ways on the same binaries, at the largest size that",
      "`bench/apps/sizes.conf` has to fit models of. Both count the code of the program's own source file, with the memset",
      "and memcpy that it calls. Misses are in thousands, cold ones included; lines have 64 bytes.",
      "",
      "The difference is explained by measuring it: cachegrind counts again with more and more ways at the same size, up to",
      "a single set, which is fully associative. What changes on this way are conflicts: blocks that had room in the",
      "cache but not in their set. What then remains between a single set and the histograms is in the column",
      "*differs*, and comes from the two runs: heap and stack begin elsewhere under valgrind, so that other data shares a",
      "line; library code, whose accesses go through the caches too, runs in cachegrind's only; and an access across",
      "the border of two lines, as of vectors that are not aligned, is one miss at most there, and up to two here.",
      "",
      "Conflicts can be negative. LRU keeps nothing of data that is walked over and over and is a little too large for the",
      "whole cache, while of sets with room for their part some keep it.",
      "",
      "## First level: 32 KiB, 512 lines",
      "",
      ($programs | table("first"; 8)),
      "",
      "## Last level: 1 MiB, 16384 lines",
      "",
      "Here the cache is the only one. Behind a first level, as in the last column, a cache sees only what misses there, and",
      "what is used often grows old in it.",
      "",
      ($programs | table("last"; 8));
