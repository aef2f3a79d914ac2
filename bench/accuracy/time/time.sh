#!/usr/bin/env bash
# A part of `make validate`: predicted against measured time.  Each program of bench/apps/sizes.conf is measured at small
# sizes (KIND.fit), and the time that the models predict for a size 2 to 8 times beyond them, inside the second level and beyond
# the last, on this machine as it is described, is set beside that of a clock; whole programs, and loop nests with at least 2%
# of the time.  The clock's figure is the least of nine processes or more, which are spread over ten minutes: in rounds, all programs
# in each.
#
# Then the same for each processor of machines/measured/ with loop times (bench/accuracy/machines/measured.sh): predicted from what was counted
# here, for its description, against what was measured there, where the programs are the same code.
#
# Nothing is tuned to a third of the nests, those whose key is divisible by three: figures of them stand beside the others.
#
#   MACHINE=file   describes this machine   (default: machines/measured/ of this processor, else a probe)
#   SPREAD=600     seconds from the first round to the last; ROUNDS=3, REPEAT=3: processes of each program in a round
#   REUSE=1        takes counts and times of the last call, where programs are the same; predictions beside these are of then:
#                  remove $BUILD/time/*.round.* to have today's
#   ALONE=command  stands before what measures time: the probe, and each round
#   UNSEEN=1       also bench/accuracy/time/time_unseen.sh: programs from Debian's sources
#
# Writes docs/time.md, $BUILD/time.json and $BUILD/time_figures.json; with ONLY=name,… the page is $BUILD/time.md.  Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/time/time.sh
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
in_folder time
rounds=${ROUNDS:-3}
repeat=${REPEAT:-3}
spread=${SPREAD:-600}
kinds="in_l2 beyond_llc"
measured=$TOP/machines/measured

# ---- machines -----------------------------------------------------------------------------------

# Names of the processors that loop times are known of, but for this one.
other_machines() {
    local file
    for file in "$measured"/*.loops.json; do
        [ -s "$file" ] && [ -s "${file%.loops.json}.conf" ] && [ "$(basename "$file" .loops.json)" != "$(cpu_file_name)" ] &&
            basename "$file" .loops.json
    done
    return 0
}

# ---- counts and models --------------------------------------------------------------------------

arguments_of_time() { size_value "$1" "$2.time" | tr -s ' ' '\n'; }

# model NAME KIND: builds the program, counts it at the small sizes and fits.
model() {
    local name=$1 kind=$2 store="$folder/$1.$2.pmdb" fit options=() other arguments
    fit=$(size_value "$name" "$kind.fit")
    mapfile -t arguments < <(arguments_of_time "$name" "$kind")
    for other in $(other_machines); do
        options+=(-m "$measured/$other.conf")
    done
    printf '%s\n' "$fit" "${arguments[@]}" >"$folder/settings"
    if [ -z "${REUSE-}" ] || ! cmp -s "$folder/settings" "$store.settings" || ! cmp -s "$folder/$name" "$folder/$name.counted"; then
        rm -f "$store" "$folder/$name.$kind".round.*
    fi
    mv "$folder/settings" "$store.settings"
    say "$name $kind: count at N = $fit"
    pmodel run -q -o "$store" -m "$folder/host.conf" "${options[@]}" -P "N=${fit// /,}" -- \
        "$folder/$name" "${arguments[@]}" >/dev/null
    pmodel fit "$store" >/dev/null
}

# ---- clocks -------------------------------------------------------------------------------------

# time_case NAME KIND ROUND: the size in question, predicted and timed in some processes.
time_case() {
    local name=$1 kind=$2 out="$folder/$1.$2.round.$3" arguments
    [ -s "$out" ] && return
    mapfile -t arguments < <(arguments_of_time "$name" "$kind")
    pmodel validate --time -q -s "$folder/$name.$kind.pmdb" -m "$folder/host.conf" --repeat "$repeat" \
        --keep "$folder/$name.$kind.counts.pmdb" --format json -P "N=$(size_value "$name" "$kind")" -- \
        "$folder/$name" "${arguments[@]}" >"$out.new" 2>"$folder/errors" || { say "$name $kind: $(tail -1 "$folder/errors")"; return; }
    mv "$out.new" "$out"
}

time_round() {
    local name kind
    for name in $names; do
        for kind in $kinds; do
            time_case "$name" "$kind" "$1"
        done
    done
}

# is_missing ROUND: some case of it is not timed yet.
is_missing() {
    local name kind
    for name in $names; do
        for kind in $kinds; do
            [ -s "$folder/$name.$kind.round.$1" ] || return 0
        done
    done
    return 1
}

# What the models say in the last round beside the clock's figures of all, NAME KIND; and what the papers' formula says of the
# same counts.
judge_case() {
    local name=$1 kind=$2 simple
    simple=$(pmodel report --time simple -m "$folder/host.conf" -P "N=$(size_value "$name" "$kind")" --format json \
        "$folder/$name.$kind.pmdb" | jq '.predictions[0].seconds')
    jq -s -c -L "$here" --arg name "$name" --arg kind "$kind" --argjson simple "$simple" 'include "time"; join_rounds($name; $kind)
        | . + {simple_error: ($simple / .rows[0].measured_seconds - 1)}' \
        "$folder/$name.$kind".round.* >"$folder/$name.$kind.json"
}

# ---- other machines -----------------------------------------------------------------------------

# The share of the program's loops whose code is that which ran there.
same_code() {
    local name=$1 other=$2
    pmodel loops --time --format json "$folder/$name" >"$folder/$name.alone"
    jq --arg name "$name" --slurpfile here "$folder/$name.alone" '[.programs[] | select(.program == $name) | .alone[]] as $there
        | ($here[0].loops | map({(.key): .hash}) | add) as $hashes
        | [$there[] | select(.hash == $hashes[.key])] as $same
        | if $there == [] then 0 else ($same | length) / ($there | length) end' "$measured/$other.loops.json"
}

# cross_case NAME KIND MACHINE: predicted here, timed there.
cross_case() {
    local name=$1 kind=$2 other=$3
    jq --arg name "$name" --arg kind "$kind" '.processor as $processor | .programs[] | select(.program == $name) | .[$kind]
        | {predictions: [{parameters: {N: .size}, measured: {machine: $processor, cpu_seconds, plain_cpu_seconds, outside_seconds,
            timers: .loops}}]}' "$measured/$other.loops.json" >"$folder/there.timed"
    [ -s "$folder/there.timed" ] || return 0
    pmodel validate --time --measured "$folder/there.timed" -s "$folder/$name.$kind.pmdb" -m "$measured/$other.conf" \
        --format json >"$folder/cross.round" || return 0
    jq -s -c -L "$here" --arg name "$name" --arg kind "$kind" --arg other "$other" --argjson same "$(cat "$folder/$name.$other.same")" \
        'include "time"; join_rounds($name; $kind) + {on: $other, same_code: $same}' "$folder/cross.round" \
        >"$folder/$name.$kind.$other.cross"
}

# ---- the whole ----------------------------------------------------------------------------------

started=$SECONDS
names=$(program_names)
if [ -n "${ROUND-}" ]; then # called by itself
    time_round "$ROUND"
    exit
fi
[ -n "${REUSE-}" ] || rm -f "$folder/host.conf"
describe_this_machine "$folder/host.conf"
for name in $names; do
    # shellcheck disable=SC2046 # the flags are words
    build_program "$name" "$folder/$name" $(pmodel flags)
    for kind in $kinds; do
        model "$name" "$kind"
    done
    cp "$folder/$name" "$folder/$name.counted"
done
begin=$SECONDS
for round in $(seq "$rounds"); do
    due=$((begin + spread * (round - 1) / (rounds > 1 ? rounds - 1 : 1)))
    if [ "$round" -gt 1 ] && [ "$SECONDS" -lt "$due" ] && is_missing "$round"; then
        say "round $round begins in $((due - SECONDS)) s"
        sleep $((due - SECONDS))
    fi
    if is_missing "$round"; then
        ROUND=$round "${alone[@]}" bash "$here/time.sh"
    fi
done
rm -f "$folder"/*.json "$folder"/*.cross
for name in $names; do
    for kind in $kinds; do
        compgen -G "$folder/$name.$kind.round.*" >/dev/null && judge_case "$name" "$kind"
    done
done
for other in $(other_machines); do
    for name in $names; do
        say "$name: predicted for $other"
        [ -n "${REUSE-}" ] && [ -s "$folder/$name.$other.same" ] || same_code "$name" "$other" >"$folder/$name.$other.same"
        for kind in $kinds; do
            cross_case "$name" "$kind" "$other"
        done
    done
done
[ -z "${UNSEEN-}" ] || bash "$here/time_unseen.sh"
touch "$folder/none.cross" "$folder/none.unseen"
jq -n -c --slurpfile here <(cat "$folder"/*.json) --slurpfile cross <(cat "$folder"/*.cross) --slurpfile unseen <(cat "$folder"/*.unseen) \
    '{here: $here, cross: $cross, unseen: $unseen}' >"$BUILD/time.json"
jq -L "$here" 'include "time"; time_figures' "$BUILD/time.json" >"$BUILD/time_figures.json"
page=$(page_of time)
jq -r -L "$here" --arg cpu "$(cpu_name)" --arg processes "$((rounds * repeat))" --arg minutes "$((spread / 60))" \
    'include "time"; page($cpu; $processes; $minutes)' "$BUILD/time.json" | wrap >"$page"
jq -r '.[] | "\(.name) \(.value)"' "$BUILD/time_figures.json"
say "$((SECONDS - started)) s; figures in $BUILD/time_figures.json, tables in $page"
