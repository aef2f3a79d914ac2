# What bench/accuracy/counts/behaviour.sh compares: mispredictions by row of a report, and the share of a group's misses
# that is sequential.  A program is {name, size, rows: [{label, predicted, measured}], groups: [{loop, object, share of
# the level's misses in these loops, predicted, measured}]}.

include "validation_words" {search: "../../lib"};

def rows: [.predictions[0].rows[] | {"label": .label, key, n: .self.mispredictions}];
def groups(level): [.[] | .loop as $loop | .groups[]
    | {loop: ($loop["label"]? // $loop), group, object, misses: .misses[level], sequential: .sequential[level]}];

def comparison:
    ($measured[0] | rows) as $there | ($predicted[0] | rows | map({key, value: .n}) | from_entries) as $said
    | ($measured_loops[0] | groups($level)) as $groups
    | ($predicted_loops[0] | groups($level) | map({key: "\(.group)", value: .}) | from_entries) as $foretold
    | ($groups | map(.misses) | add // 0) as $all
    | {name: $name, size: $size,
       rows: [$there[] | {"label": .label, measured: .n, predicted: ($said[.key] // 0)}],
       groups: [$groups[] | select(.misses > 0 and .sequential != null) | . as $g | $foretold["\(.group)"]
           | select(. and .misses > 0 and .sequential != null)
           | {loop: $g.loop, object: $g.object, share: ($g.misses / $all), measured: ($g.sequential / $g.misses),
              predicted: (.sequential / .misses)}]};

# Rows with at least 2% of a program's mispredictions, and groups with as much of the misses.
def large_rows: (.rows | map(.measured) | add) as $all | [.rows[] | select(.measured >= 0.02 * $all and .measured > 0)
    | . + {error: (.predicted / .measured - 1)}];
def large_groups: [.groups[] | select(.share >= 0.02) | . + {error: (.predicted - .measured)}];
def whole: (.rows | map(.measured) | add) as $measured | if $measured > 0 then (.rows | map(.predicted) | add) / $measured - 1
    else 0 end;
def worst: max_by(.error | magnitude);

def figures: [
    ([.[] | large_rows[] | .error | magnitude] | select(length > 0) | median
        | {name: "branch_models_median", value: ., unit: "fraction", target: 0.05, holds: (. <= 0.05)}),
    ([.[] | large_groups[] | .error | magnitude] | select(length > 0) | max
        | {name: "stream_share_worst", value: ., unit: "fraction", target: 0.05, holds: (. <= 0.05)})];

def page($figures): "# Branches and streams at sizes never run

Written by `make validate` (`bench/accuracy/counts/behaviour.sh`). What models say of the first size that
`bench/apps/sizes.conf` has to predict, about twice the largest that was fitted, beside a run of it: how often a
reference predictor (TAGE) is wrong, in loops and routines with 2% of a program’s mispredictions or more, and which
share of the misses in \($level) of \($machine) goes on from line to line, of groups with 2% of the misses of the loops
with most.

" + table(["figure", "value", "target", ""]; [$figures[] | [(.name | code), (.value | percent), (.target | percent),
    if .holds then "holds" else "does not hold" end]]) + "

" + table(["program", "N", "mispredictions", "predicted", "loops and routines", "their median", "worst", "groups",
           "share: median", "worst", "of"];
    [.[] | large_rows as $rows | large_groups as $groups
     | [.name, "\(.size)", (.rows | map(.measured) | add | count), (whole | signed), "\($rows | length)"]
       + (if $rows == [] then ["-", "-"] else [($rows | map(.error | magnitude) | median | percent),
             ($rows | worst | "\(.error | signed), \(.["label"] | code)")] end)
       + ["\($groups | length)"]
       + (if $groups == [] then ["-", "-", ""] else [($groups | map(.error | magnitude) | median | percent)]
             + ($groups | worst | [(.error | signed), "\(.object) in \(.loop | code)"]) end)]) + "
";
