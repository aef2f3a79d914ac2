# From what bench/accuracy/counts/misses.sh compares to the page docs/misses.md.  A row is {step, name, size, bytes, ways, misses and
# full (by pmodel, in sets and fully associative), interval: {low, high} or null, cachegrind: misses or null}.  Of loops it is
# {step, name, size, bytes, ways, label, misses, simulated}.
include "associativity";

def error: (.misses / .cachegrind - 1 | fabs);
def rows(step): map(select(.step == step and .cachegrind != null and .cachegrind > 0));
def most_ways: map(select(.ways >= 8));
def few_ways: map(select(.ways < 8));

def summary(name; target; errors; summary): errors | select(length > 0) | summary
    | {name: name, value: ., unit: "relative error", target: target, holds: (. <= target)};
def middle: sort | .[(length - 1) / 2 | floor];

# Loops with a hundredth of their program's misses or more.
def loop_rows(step): map(select(.step == step)) | group_by([.name, .bytes])[] | (map(.simulated) | add) as $all
    | map(select(.simulated >= 0.01 * $all) | .error = (.misses / .simulated - 1 | fabs));
def loop_errors(step): [loop_rows(step)[] | .error];

def misses_figures($loops): . as $all | [
    ($all | rows("measured") | most_ways | map(error) | summary("setassoc_measured_median"; 0.01; .; middle),
                                                        summary("setassoc_measured_worst"; 0.10; .; max)),
    ($all | rows("measured") | few_ways | map(error) | summary("setassoc_low_ways_median"; 0.05; .; middle)),
    ($all | rows("resonance") | map(error) | summary("setassoc_resonance_worst"; 0.15; .; max)),
    ($all | rows("predicted") | map(error) | summary("setassoc_misses_median"; 0.02; .; middle),
                                             summary("setassoc_misses_worst"; 0.15; .; max)),
    ($loops | loop_errors("measured") | summary("setassoc_measured_loops_median"; 0.01; .; middle)),
    ($loops | loop_errors("predicted") | summary("setassoc_misses_loops_median"; 0.02; .; middle)),
    ($all | rows("predicted") | map(select(.interval != null) | if .interval.low <= .cachegrind and .cachegrind <= .interval.high
        then 1 else 0 end) | select(length > 0) | add / length
        | {name: "setassoc_interval_coverage_80", value: ., unit: "fraction", target: [0.75, 1], holds: (. >= 0.75)})];

def percent: . * 1000 | round / 10 | tostring + "%";

def cache: if .bytes >= 1048576 then "\(.bytes / 1048576) MiB" else "\(.bytes / 1024) KiB" end;

# One line a program and size, two columns a cache: the error in sets, and the fully associative one.
def errors_table(step): rows(step) | (map({bytes, ways}) | unique | sort_by(.bytes, .ways)) as $caches
    | (["program", "N"] + [$caches[] | "\(cache), \(.ways) way\(if .ways > 1 then "s" else "" end)", "as full"] | row),
      (["program", "N"] + [$caches[] | "", ""] | rule),
      (group_by([.name, .size])[] | . as $rows | [$rows[0].name, ($rows[0].size | tostring)]
        + [$caches[] | . as $c | [$rows[] | select(.bytes == $c.bytes and .ways == $c.ways)][0]
            | if . then off(.misses; .cachegrind), off(.full; .cachegrind) else "?", "?" end] | row);

# The misses themselves, in thousands.
def misses_table(step): rows(step)
    | (["program", "N", "ways", "cachegrind", "predicted", "off by", "as fully associative"] | row), (["program", "", "", "", "", "", ""] | rule),
      (sort_by(.name, .ways, .size)[] | [.name, (.size | tostring), (.ways | tostring), (.cachegrind | thousands), (.misses | thousands),
        off(.misses; .cachegrind), off(.full; .cachegrind)] | row);

def loops_table(step): (["program", "N", "cache", "loops", "median", "worst", "which"] | row), (["program", "N", "", "", "", "", "which"] | rule),
    (loop_rows(step) | select(length > 0) | sort_by(.error) | .[0] as $any | .[-1] as $worst
        | [$any.name, ($any.size | tostring), ($any | "\(cache), \(.ways) ways"), (length | tostring), (map(.error) | middle | percent),
           off($worst.misses; $worst.simulated), "\($worst.label), \($worst.simulated | thousands)"] | row);

def page($loops): . as $all | misses_figures($loops) as $figures
    | "# Misses in caches of sets",
      "",
      "Written by `make validate` (`bench/accuracy/counts/misses.sh`). Misses as pmodel says they are (`fit/sets/`) beside those that cachegrind, a tool",
      "of valgrind, simulates with the same binaries, in caches with LRU replacement and lines of 64 bytes, each the only data cache. Errors",
      "are relative to cachegrind's misses; *as full* is the error of what a fully associative cache of that size would miss. Both count the code of",
      "the program's own source file, with the memset and memcpy that it calls; an access across the border of two lines is up to two misses for",
      "pmodel and one for cachegrind, which alone is +1.6% in ssor and +1.3% in adi (`docs/reuse.md`).",
      "",
      "| figure | value | target | |",
      "| --- | ---: | ---: | --- |",
      ($figures[] | "| `\(.name)` | \(.value | percent) | \(if .target | type == "array" then (.target | map(percent) | join(" to ")) else (.target | percent) end) | \(if .holds then "holds" else "does not hold" end) |"),
      "",
      "## From measured histograms",
      "",
      "At the largest size of `fit` in `bench/apps/sizes.conf`: what the sets are wrong by, without models.",
      "",
      ($all | errors_table("measured")),
      "",
      "## Resonance",
      "",
      "Predicted at powers of two and near them, from six smaller sizes of which none is one (`bench/accuracy/counts/misses.sh` has them); 32 KiB, misses in thousands.",
      "At sizes that are multiples of a large power of two the rows of an array, or the arrays, share few sets.",
      "",
      ($all | misses_table("resonance")),
      "",
      "## Predicted",
      "",
      "At twice and four times the largest size of `fit`; sizes that cachegrind did not get through in time are left out.",
      "",
      ($all | errors_table("predicted")),
      "",
      "## Loop by loop",
      "",
      "Beside a simulator of all accesses (`tests/truth/caches.h`), because cachegrind knows no loops: loops, and routines outside of these, with a",
      "hundredth of their program's misses or more, and of the worst how many thousands it has. From measured histograms:",
      "",
      ($loops | loops_table("measured")),
      "",
      "Predicted at twice the largest size of `fit`:",
      "",
      ($loops | loops_table("predicted")),
      "",
      "## What falls short",
      "",
      "- Of strides that differ from call to call, as in each pass of `fft`, sixteen values are kept; of those that only outer loops change, the most frequent one.",
      "- Few ways: with one or two, misses hang on single blocks that meet in a set; stack, heap and static data lie at other pages in each run.",
      "- Other policies, physical addresses and levels behind each other are in `docs/policies.md`.";
