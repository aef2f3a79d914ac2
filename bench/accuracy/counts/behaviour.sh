#!/usr/bin/env bash
# A part of `make validate`: branches and streams at a size that was never run.  Models of the sizes `fit` of
# bench/apps/sizes.conf say how often a reference predictor is wrong, and which share of a group's misses goes on from
# line to line, at the first size of `predict`; another run measures both there.
#
# Writes docs/behaviour.md (ONLY=name,…: $BUILD/behaviour.md), $BUILD/behaviour.json (one object a program) and
# $BUILD/behaviour_figures.json.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
new_folder behaviour
machine=zen4 # whose level is asked for the misses, and which has a prefetcher; no figure of it is a time
level=L1

# answers STORE SIZE: mispredictions by row of the report, and streams by group of the loops that are in `loops`.
answers() {
    local store=$1 size=$2 loop
    pmodel report -m "$machine" -P "N=$size" --format json "$store.pmdb" >"$store.report.json"
    # Those with at least 5% of the level's misses, as measured.
    [ -s loops ] || jq -r --arg level "$level" '.predictions[0].rows | (map(.self.misses[$level]) | add) as $all
        | .[] | select(.kind == "loop" and .self.misses[$level] >= 0.05 * $all) | .label' "$store.report.json" >loops
    while read -r loop; do
        pmodel report --as loop -m "$machine" -P "N=$size" --format json "$store.pmdb" "$loop"
    done <loops | jq -s . >"$store.loops.json"
}

# judge NAME: its result is NAME.json.
judge() {
    local name=$1 fit size arguments store
    mkdir -p "$folder/$name"
    cd "$folder/$name"
    fit=$(size_value "$name" fit)
    size=$(size_value "$name" predict)
    size=${size%% *}
    mapfile -t arguments < <(program_arguments "$name" fit)
    # shellcheck disable=SC2046 # the flags are words
    build_program "$name" "./$name" $(pmodel flags)
    say "$name: measure at N = $fit, and at $size"
    pmodel run -q -o predicted.pmdb --block 64,4096 -P "N=${fit// /,}" -- "./$name" "${arguments[@]}" >run.out
    pmodel fit predicted.pmdb >fit.out
    pmodel run -q -o measured.pmdb --block 64,4096 -P "N=$size" -- "./$name" "${arguments[@]}" >run.out
    for store in measured predicted; do answers "$store" "$size"; done
    jq -n --arg name "$name" --argjson size "$size" --arg level "$level" --slurpfile predicted predicted.report.json \
        --slurpfile measured measured.report.json --slurpfile predicted_loops predicted.loops.json \
        --slurpfile measured_loops measured.loops.json -L "$here" 'include "behaviour"; comparison' >"../$name.json"
}

names=$(program_names)
results=()
for name in $names; do
    judge "$name"
    results+=("$folder/$name.json")
done
jq -s . "${results[@]}" >"$BUILD/behaviour.json"
jq -L "$here" 'include "behaviour"; figures' "$BUILD/behaviour.json" >"$BUILD/behaviour_figures.json"
page=$(page_of behaviour)
jq -r -L "$here" --slurpfile figures "$BUILD/behaviour_figures.json" --arg machine "$machine" --arg level "$level" \
    'include "behaviour"; page($figures[0])' "$BUILD/behaviour.json" | wrap >"$page"
say "figures in $BUILD/behaviour_figures.json, tables in $page"
