# From what bench/accuracy/counts/policies.sh compares to the page docs/policies.md.  A row is {name, size, policy, caches: "small", "large" or
# "both", level: "L1" or "L2", bytes, ways, accesses, misses (by pmodel), interval: {low, high} or null, simulated, standard_error (misses by
# the simulator: mean of several seeds), write_backs (by pmodel), simulated_write_backs (with what is dirty in the end)}.
include "associativity";

def mean: add / length;
def standard_error: length as $n | mean as $mean
    | if $n < 2 then 0 else (map((. - $mean) * (. - $mean)) | add) / ($n - 1) / $n | sqrt end;

def replacements: ["lru", "plru", "fifo", "random"];
def inclusions: ["neither", "inclusive", "exclusive"];

def error: (.misses / .simulated - 1 | fabs);
# Of two levels the first is LRU's, but for what an inclusive one takes from it.
def is_judged: .simulated > 0 and .policy != "full" and (.caches != "both" or .level == "L2");
def errors(policy): map(select(is_judged and .policy == policy) | error);

def summary(name; target; summary): select(length > 0) | summary
    | {name: name, value: ., unit: "relative error", target: target, holds: (. <= target)};
def middle: sort | .[(length - 1) / 2 | floor];

# Both targets are those of misses in sets from measured histograms (docs/misses.md).
def policies_figures: . as $all | [
    (replacements[], "physical", inclusions[]) as $policy | $all | errors($policy)
    | summary("policies_\($policy)_median"; 0.01; middle), summary("policies_\($policy)_worst"; 0.10; max)];

def percent: . * 1000 | round / 10 | tostring + "%";
def cell: if . then (.simulated | thousands), off(.misses; .simulated) else "?", "?" end;

# A line a program: misses in thousands by the simulator, and how far off pmodel is, two columns for each of POLICIES.
def misses_table(caches; level; policies; words): map(select(.caches == caches and .level == level)) as $rows
    | (["program", "N"] + [words[] | ., "off by"] | row), (["program", "N"] + [words[] | "", ""] | rule),
      ($rows | group_by([.name, .size])[] | . as $own | [$own[0].name, ($own[0].size | tostring)]
        + [policies[] | . as $policy | [$own[] | select(.policy == $policy)][0] | cell] | row);

# How uncertain the mean of several seeds is, at most.
def uncertain(policy): [.[] | select(.policy == policy and .simulated > 0) | .standard_error / .simulated] | max;
# How far fully associative caches are apart, of which histograms say the misses exactly, up to their bins.
def apart: [.[] | select(.policy == "full" and .simulated > 0) | error] | max;

# Blocks written back by caches with LRU replacement, a line a program.
def write_backs_table: map(select(.policy == "full" or .policy == "lru")) as $rows
    | ["full", "lru"] as $policies | ["small", "large"] as $caches
    | (["program", "N", "32 KiB, full", "off by", "8 ways", "off by", "256 KiB, full", "off by", "16 ways", "off by"] | row),
      (["program", "N", "", "", "", "", "", "", "", ""] | rule),
      ($rows | group_by([.name, .size])[] | . as $own | [$own[0].name, ($own[0].size | tostring)]
        + [$caches[] as $cache | $policies[] as $policy | [$own[] | select(.policy == $policy and .caches == $cache)][0]
            | (.simulated_write_backs | thousands), off(.write_backs; .simulated_write_backs)] | row);

# Policies to which pmodel answers as to LRU in a cache of virtual addresses that sees all accesses.
def taken_as_lru: ([.[] | select(.policy == "lru") | {key: "\(.name) \(.bytes)", value: .misses}] | from_entries) as $lru
    | [group_by(.policy)[] | select(.[0].policy | . != "lru" and . != "full")
        | select(all(.misses == $lru["\(.name) \(.bytes)"])) | .[0].policy];

def page: . as $all | policies_figures as $figures
    | "# Misses under other policies",
      "",
      "Written by `make validate` (`bench/accuracy/counts/policies.sh`). Misses as pmodel says they are for a machine file that names a replacement, an indexing or",
      "an inclusion, from histograms measured at the same size (the largest of `fit` in `bench/apps/sizes.conf`), beside a simulator that follows all",
      "accesses of another run. It is written from the definitions of the policies (`tests/truth/caches.h`), and is as cachegrind where that has the same.",
      "Lines have 64 bytes; levels write back, and bring in what a store misses. Misses are in thousands, those of the simulator; *off by* is",
      "how far pmodel is from them.",
      "",
      "Both runs had the same addresses, and count an access across two lines in both: fully associative LRU caches, whose misses the histograms",
      "say exactly, differ by \($all | apart | percent) at most. What is random in a simulation is the mean of several seeds, whose standard error is",
      "\($all | uncertain("random") | percent) at most (random replacement) and \($all | uncertain("physical") | percent) (physical pages).",
      "",
      "| figure | value | target | |",
      "| --- | ---: | ---: | --- |",
      ($figures[] | "| `\(.name)` | \(.value | percent) | \(.target | percent) | \(if .holds then "holds" else "does not hold" end) |"),
      ($all | taken_as_lru | if length > 0 then "", "Answered as LRU, virtual, with nothing before it: \(join(", "))." else empty end),
      "",
      "## One level: 32 KiB, 8 ways",
      "",
      "A way is a page: physical indexing changes nothing.",
      "",
      ($all | misses_table("small"; "L1"; replacements; ["LRU", "tree-PLRU", "FIFO", "random"])),
      "",
      "## One level: 256 KiB, 16 ways",
      "",
      "Physically indexed: each page of 4 KiB is at a random place, so that two bits of the set are random.",
      "",
      ($all | misses_table("large"; "L1"; replacements + ["physical"]; ["LRU", "tree-PLRU", "FIFO", "random", "LRU, physical"])),
      "",
      "## Two levels: 256 KiB, 16 ways, behind 32 KiB, 8 ways",
      "",
      "Misses of the second level, both LRU. *Neither*: it keeps what it brought in. *Inclusive*: what it replaces leaves the first, too. *Exclusive*: it",
      "holds what the first replaced.",
      "",
      ($all | misses_table("both"; "L2"; inclusions; ["neither", "inclusive", "exclusive"])),
      "",
      "## Write-backs",
      "",
      "Blocks that caches with LRU replacement write to memory, in thousands, those included that are dirty in the end, of a run with `--write-backs`:",
      "exact of fully associative ones, and pmodel says the same of those with sets.",
      "",
      ($all | write_backs_table);
