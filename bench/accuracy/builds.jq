# From what bench/accuracy/builds.sh asked the models and the measured run of each kernel, to figures and to a
# section of docs/validation.md.
include "validation_words" {search: "../lib"};

# One kernel, from $models and $measured (`pmodel query --format json`), $times and $measured_times
# (`pmodel report --format json`), each in an array of one.
def comparison: {
    $kernel, $options, $half,
    N: $measured[0].answers[0].parameters.N,
    accesses: ($models[0].answers[0].accesses / $measured[0].answers[0].accesses - 1),
    left_out: (($times[0].predictions[0].left_out // {}) | {accesses, first_touches, misses}),
    time: ($times[0].predictions[0].seconds / $measured_times[0].predictions[0].seconds),
    caches: [range($measured[0].answers | length) as $i | $models[0].answers[$i] as $p | $measured[0].answers[$i]
        | {blocks: .cache.blocks, measured: .misses, predicted: $p.misses, error: ($p.misses / .misses - 1 | magnitude),
           low: $p.interval.low, high: $p.interval.high}]};

def is_inside: .low != null and .high != null and .measured >= .low and .measured <= .high;
# Off by more than a quarter, and sure of it; no interval counts as outside.
def is_silent: .error > 0.25 and (is_inside | not);
def widths: [.[] | select((.left_out.accesses // 0) < 0.01) | .caches[] | select(.low != null) | if .low > 0 then .high / .low else infinite end];

def builds_figures: select(length > 0) | . as $all | [.[].caches[].error]
    | ({name: "builds_misses_median", value: median, target: 0.01},
       {name: "builds_misses_worst", value: max, target: 0.10},
       {name: "builds_silent", value: ([$all[].caches[] | select(is_silent)] | length), unit: "caches", target: 0},
       {name: "builds_interval_ratio_median", value: ($all | widths | median), unit: "upper over lower end", target: 1.5})
    | {name, value, unit: (.unit // "fraction"), target, holds: (.value <= .target)};

def three_digits: (. * 1000 | round) / 1000 | tostring;

def builds_row: [
    "\(.kernel | code) \(.options)", .half, (.N | tostring), (.accesses | signed),
    ([.caches[].error] | (median | percent), (max | percent)),
    ([.caches[] | select(is_inside)] | length | tostring) + " of \(.caches | length)",
    ([.caches[] | select(is_silent)] | length | tostring),
    (.left_out.accesses | if . == null then "0" else percent end), (.time | three_digits)];

def half_row(name): select(length > 0) | [.[].caches[].error] as $errors | [
    name, (length | tostring), ($errors | (median | percent), (max | percent)),
    ([.[].caches[] | select(is_inside)] | length | tostring) + " of \($errors | length)",
    ([.[].caches[] | select(is_silent)] | length | tostring), (widths | median | three_digits),
    ([.[].time] | (median | three_digits), (min | three_digits), (max | three_digits))];

def builds_page:
"## Programs that are built for each size

Kernels of `bench/apps/kernels/`, whose arrays have constant extents: built and measured at six sizes, not all multiples of
eight (`pmodel run --build`), predicted at twice the largest, and compared with a build of that size, measured in a store of its own. Misses
are those of fully associative caches of 512 to 131,072 blocks of 64 bytes. Silent: caches for which the prediction is off by more
than 25% outside its 80% interval. Left out: share of the accesses at the largest size for which there are no models. Time:
predicted by the models over that of the measured run, both by `pmodel report -m icelake-sp`. One half of the kernels was looked
at while this was written, the other was set apart until the end.

" + table(["half", "builds", "misses: median", "worst", "in 80%", "silent", "upper over lower end", "time: median", "least", "most"];
    [([.[] | select(.half == "tuned")] | half_row("looked at")), ([.[] | select(.half == "apart")] | half_row("set apart")),
     half_row("all")]) + "

" + table(["kernel", "half", "N", "accesses", "misses: median", "worst", "in 80%", "silent", "left out", "time"]; map(builds_row));
