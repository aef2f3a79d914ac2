# From `pmodel bound --format json` of several runs, with `name` added, to figures and the page docs/bound.md.
include "validation_words" {search: "../../lib"};

def is_bounded: .refusal == null and .bound_seconds != null;
# Nests that say themselves what is not as in the loop: for the figure of data that fit they stand apart.
def is_marked: .biased > 0 or .chased > 0 or .replayed > 0;
def remarks: [.refusal // empty, (select(.above_original) | "above the original"), (select(.biased > 0) | "longer dependences cut"),
    (select(.chased > 0) | "addresses not waited for"), (select(.replayed > 0) | "branches replayed"),
    (select(.chained > 0) | "loads wait for stores"), (select(.cut > 0) | "cut at its trip count"),
    (select(.unknown_aliases > 0) | "unknown aliases"), (select(.called_routines > 0) | "calls copied"),
    (select(.library_calls > 0) | "calls the mathematical library"), (select(.across_lines > 0) | "accesses across lines"),
    (select(.shared_time) | "time shared out")] | join("; ");

def product_ratio(blas): [.nests[] | select(is_bounded)] as $nests
    | if ($nests | length) == 0 then null else ($nests | map(.bound_seconds) | max) / 3 / blas end;
def difference: (.bound_seconds / .seconds - 1) | fabs;
def geometric: (map(log) | add / length) | exp;
def figure(name; unit; target; holds): {name: name, value: ., unit: unit, target: target, holds: (. != null and holds)};

# Of loop time, in all applications at both sizes.
def share: (map(.timed_seconds * (.bounded_share // 0)) | add) / (map(.timed_seconds) | add);

# Of nests that are as in the loop: their bound beside the time that is predicted if nothing misses.
def schedule_errors: [.[].nests[] | select(is_bounded and (is_marked | not) and (.above_original | not)
    and .predicted_seconds != null and .predicted_seconds > 0) | .predicted_seconds / .bound_seconds - 1 | fabs];

def bound_figures(fitting; tiled; blas): [
    (fitting.nests | map(select(is_bounded and (is_marked | not)) | difference) | max
        | figure("bound_l1_difference"; "share"; 0.05; . <= 0.05)),
    (tiled | product_ratio(blas) | figure("bound_dgemm_ratio"; "ratio"; 1.3; . <= 1.3)),
    (share | figure("bound_share_of_time"; "share"; 0.8; . >= 0.8)),
    (schedule_errors | if length == 0 then empty else median | figure("bound_vs_schedule_median"; "share"; 0.15; . <= 0.15) end)];

# Of those of which something was recorded.
def bound_costs(fitting; tiled; blas): map(select(.total_over_plain > 0)) | [
    (map(.total_over_plain) | geometric | figure("bound_total_over_native"; "ratio"; 4; . <= 4)),
    (map(.recording_over_plain) | geometric | figure("bound_recording_over_native"; "ratio"; 1.2; . <= 1.2))];

def ms: if . == null then "?" else (. * 1e5 | round / 100 | tostring) end;
def times: if . == null then "?" else (. * 100 | round / 100 | tostring) end;
def nest_row: [.label, (.source // ""), (.seconds | ms), (.bound_seconds | ms), (.predicted_seconds | ms), (.speed_up | times), (.instructions_per_cycle | times),
    (.bound_instructions_per_cycle | times), remarks];
def nest_heads: ["loop nest", "source", "original, ms", "lower bound, ms", "predicted, ms", "speed-up", "~IPC", "~at bound", "remarks"];

# By counters (section 5.6): time less what misses cost, each by itself; 14 cycles is a hit in a second level of today's.
def page(cpu; fitting; products; blas; counted; builds; figures): . as $applications
    | "# Lower bounds",
      "",
      "Written by `make validate` (`bench/accuracy/time/bound.sh`) on \(cpu). What `pmodel bound` (pmodel-bound(1)) measures: the time of loop nests",
      "if nothing missed a cache, after Fursin, O'Boyle, Temam and Watts (2004). Times are of the processor, in milliseconds.",
      "",
      table(["figure", "value", "target", ""]; [figures[] | ["`\(.name)`", (.value | times), "\(.target)", (if .holds then "holds" else "does not hold" end)]]),
      "",
      "## The example applications",
      "",
      "As `bench/apps/sizes.conf` has them for `make bench`. A nest that takes 1% of the time is listed. *bounded*: of the time in loops.",
      "",
      table(["", "time, ms", "lower bound, ms", "speed-up", "bounded", "recording", "all runs"];
        [$applications[] | ["`\(.command)`", (.plain_seconds | ms), (.bound_seconds | ms), (.plain_seconds / .bound_seconds | times),
            (.bounded_share // 0 | percent), (if .total_over_plain > 0 then (.recording_over_plain | times), (.total_over_plain | times) else "-", "-" end)]]),
      "",
      "Recording and all runs: over the plain run's time. All runs are those with timers, that which records, and that with the copies.",
      "",
      "Predicted: on this processor as it was probed, if nothing missed a cache; of nests without calls.", "",
      ($applications[] | "### `\(.command)`", "", table(nest_heads; [.nests[] | nest_row]), ""),
      "## Data that fit in the first cache",
      "",
      "Here bound and time should be the same. Of the nests that are marked as biased, as chasing addresses, or as replaying branches, the bound",
      "is not what the figure `bound_l1_difference` is made of.",
      "",
      table(nest_heads; [fitting.nests[] | nest_row]),
      "",
      "## Several builds of one program",
      "",
      "Section 5.5 of the paper: a search over compiler flags may end where the best time is near the best bound of all builds. `heat`, whose data are",
      "beyond the caches:",
      "",
      table(["build", "time, ms", "lower bound, ms", "speed-up"]; [builds.builds[] | [(.store | split("/") | last | rtrimstr(".pmdb")), (.seconds | ms), (.bound_seconds | ms),
          (.seconds / .bound_seconds | times)]] + [["best of each", (builds.best_seconds | ms), (builds.best_bound_seconds | ms), (builds.best_seconds / builds.best_bound_seconds | times)]]),
      "",
      (if builds.best_seconds > 1.1 * builds.best_bound_seconds
          then "The best time is not near the best bound: more flags are no use, the order of accesses would have to change."
          else "The best time is near the best bound: the search may stop." end),
      "",
      "## Matrix products",
      "",
      "960 × 960 doubles. *tiled* holds a tile of 4 × 12 in registers and does nothing for the caches; OpenBLAS' `dgemm` on one thread,",
      "with its kernel for Haswell, takes \(blas | ms) ms. *ikj* stores at each multiply-add, *ijk* is a recurrence: without a target.",
      "",
      table(["", "time of one, ms", "lower bound of one, ms", "over `dgemm`"];
        [products[] | . as $p | ({tiled: 3, ikj: 2, ijk: 1}[.name]) as $times
            | ([.nests[] | select(is_bounded)] | map(.bound_seconds) | max) as $bound
            | [.name, (([.nests[].seconds] | max) / $times | ms), (if $bound then $bound / $times | ms else "?" end), (if $bound then $bound / $times / blas | times else "?" end)]]),
      "",
      "By counters, as in section 5.6 of the paper, the tiled product's bound is its time less what its misses take one after the other, which",
      "they do not: they overlap. By cachegrind",
      "\(counted.l1_miss_ratio * 1e4 | round / 100)% of the accesses of a product of half the side miss a first level of 32 KiB; at",
      "\(counted.refs * 8) accesses of the whole product, 14 cycles a miss and \(products[0].cycle_seconds * 1e12 | round) ps a cycle they take",
      "\(counted.refs * 8 * counted.l1_miss_ratio * 14 * products[0].cycle_seconds | ms) ms of \(([products[0].nests[].seconds] | max) / 3 | ms) ms: that bound is",
      "\(([products[0].nests[].seconds] | max) / 3 - counted.refs * 8 * counted.l1_miss_ratio * 14 * products[0].cycle_seconds | ms) ms.";
