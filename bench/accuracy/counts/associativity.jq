# From what bench/accuracy/counts/associativity.sh counts to the page docs/reuse.md.  A program is {name, size, histograms:
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
      "Written by `make validate` (`bench/accuracy/counts/associativity.sh`). Histograms of reuse distances give the misses of fully associative",
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

# ---- block sizes that were not measured (bench/accuracy/counts/interpolation.sh) --------------------------------------

# A line is {name, size, block, own: [[accesses, misses], …], made: the same}, one of `own` for each cache.

# What is made over what was measured, of caches that a ten-thousandth of the accesses or more misses.
def ratios: [.own, .made] | transpose | map(select(.[0][1] >= 0.0001 * .[0][0]) | .[1][1] / .[0][1]);
# How far miss ratios are apart.
def apart: [.own, .made] | transpose | map((.[1][1] / .[1][0] - .[0][1] / .[0][0]) | fabs);
def median: sort | .[(length - 1) / 2 | floor];
def signed: (100 * (. - 1)) as $percent
    | if ($percent | fabs) < 0.05 then "0"
      else (if $percent > 0 then "+" else "−" end)
          + ($percent | fabs | if . >= 10 then round else . * 10 | round / 10 end | tostring) + "%" end;
# The one that is farthest off.
def worst: if length == 0 then "-" else max_by(. - 1 | fabs) | signed end;

def interpolated: group_by(.name) as $programs | (map(.block) | unique) as $blocks
    | "## Block sizes that were not measured",
      "",
      "`pmodel run` measures blocks of 64 bytes and 4 KiB unless it is told otherwise, and `--interpolate` makes misses in other blocks",
      "of the nearest of these (`fit/query/interpolate.c`: in a cache of as many bytes they are inversely proportional to the block",
      "size). How far that is off, at the same sizes of the programs: the worst of caches of 32 KiB, 256 KiB, 1 MiB and 8 MiB for",
      "lines, of TLBs with 16, 64, 256 and 1024 entries for pages, where at least one access in 10,000 misses (`-`: in none).",
      "Smaller lines are right for what is walked over; larger pages are not where an array is walked over in steps of more than",
      "a page, or data is picked at random.",
      "",
      (["program", "N"] + ($blocks | map("\(.) bytes")) | row),
      (["program", "N"] + ($blocks | map("")) | rule),
      ($programs | map(. as $rows | [$rows[0].name, ($rows[0].size | tostring)]
          + ($blocks | map(. as $block | $rows[] | select(.block == $block) | ratios | worst)) | row) | .[]),
      (. as $all | ["all, median", ""] + ($blocks | map(. as $block
          | [$all[] | select(.block == $block) | ratios[] | . - 1 | fabs] | if length == 0 then "-" else "±" + (1 + median | signed | ltrimstr("+")) end)) | row),
      "",
      ("Over all accesses, miss ratios are off by \([.[] | select(.block < 4096) | apart[]] | add / length * 1e5 | round / 1e3)% on average in lines and "
        + "\([.[] | select(.block > 4096) | apart[]] | add / length * 1e5 | round / 1e3)% in pages, at most "
        + "\([.[] | select(.block < 4096) | apart[]] | max * 1e4 | round / 1e2)% and \([.[] | select(.block > 4096) | apart[]] | max * 1e4 | round / 1e2)%.");
