#!/usr/bin/env bash
# A part of `make validate`: machine signatures convolved with programs, against a clock.  Each program of bench/apps/sizes.conf
# is profiled and timed at three sizes: that of in_l2, the largest of beyond_llc.fit, and that of beyond_llc.  Beside the clock stand
# what `pmodel report --as convolution` says of its basic blocks and of its loops, and what the three predictors of `pmodel report --time` say of the
# same counts.
#
# Nothing is tuned to these programs: what is read off the curves has no constant of its own.
#
#   MACHINE=file   describes this machine   (default: machines/measured/ of this processor)
#   ALONE=command  stands before what measures time
#   REUSE=1        takes counts, profiles and times of the last call
#
# Writes docs/convolve.md and $BUILD/convolve_figures.json; with ONLY=name,… the page is $BUILD/convolve.md.
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/time/convolve.sh
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
in_folder convolve
machine=${MACHINE-$TOP/machines/measured/$(cpu_file_name).conf}
[ -s "$machine" ] || die "no description of this processor: MACHINE=FILE, as \`pmodel probe\` writes it"
cp "$machine" "$folder/host.conf"

# sizes_of NAME KIND
sizes_of() {
    case $2 in
    between) size_value "$1" beyond_llc.fit | awk '{ print $NF }' ;;
    *) size_value "$1" "$2" ;;
    esac
}

# measure NAME KIND: counts, profile and times of a size in a store of its own.
measure() {
    local name=$1 kind=$2 store="$folder/$1.$2.pmdb" of=${2/between/beyond_llc} arguments
    [ -n "${REUSE-}" ] && [ -s "$store" ] && return
    mapfile -t arguments < <(size_value "$name" "$of.time" | tr -s ' ' '\n')
    rm -f "$store"
    "${alone[@]}" pmodel run -q --time --time-runs 3 --profile --simulate "$folder/host.conf" -m "$folder/host.conf" -o "$store.new" \
        -P "N=$(sizes_of "$name" "$kind")" -- "$folder/$name" "${arguments[@]}" >/dev/null 2>"$folder/errors" ||
        { say "$name $kind: $(tail -1 "$folder/errors")"; rm -f "$store.new"; return; }
    mv "$store.new" "$store"
}

# predict NAME KIND: all that is said of it, as a line of JSON.
predict() {
    local name=$1 kind=$2 store="$folder/$1.$2.pmdb" model
    [ -s "$store" ] || return 0
    pmodel report --as convolution --format json -m "$folder/host.conf" "$store" >"$folder/blocks"
    pmodel report --as convolution --by-loops --format json -m "$folder/host.conf" "$store" >"$folder/loops"
    for model in simple window signature; do
        pmodel report --time "$model" --format json -m "$folder/host.conf" "$store" >"$folder/$model" 2>/dev/null
    done
    jq -n -c --arg name "$name" --arg kind "$kind" --slurpfile blocks "$folder/blocks" --slurpfile loops "$folder/loops" \
        --slurpfile simple "$folder/simple" --slurpfile window "$folder/window" --slurpfile signature "$folder/signature" '
        {name: $name, kind: $kind, size: $blocks[0].parameters.N, measured: $blocks[0].measured_seconds,
         domain: $blocks[0].machines[0].in_domain_share, flops: $blocks[0].machines[0].flops,
         mean_mflops: $blocks[0].machines[0].mean_mflops, blocks: $blocks[0].machines[0].seconds, loops: $loops[0].machines[0].seconds,
         simple: $simple[0].predictions[0].seconds, window: $window[0].predictions[0].seconds,
         signature: $signature[0].predictions[0].seconds}'
}

for name in $(program_names); do
    # shellcheck disable=SC2046 # the flags are words
    build_program "$name" "$folder/$name" $(pmodel flags)
    for kind in in_l2 between beyond_llc; do
        say "$name $kind"
        measure "$name" "$kind"
    done
done
for name in $(program_names); do
    for kind in in_l2 between beyond_llc; do
        predict "$name" "$kind"
    done
done >"$folder/all.json"
jq -s -L "$here" 'include "convolve"; figures' "$folder/all.json" >"$BUILD/convolve_figures.json"
page=$(page_of convolve)
jq -s -r -L "$here" --arg cpu "$(cpu_name)" 'include "convolve"; page($cpu)' "$folder/all.json" | wrap >"$page"
jq -r '.[] | "\(.name) \(.value)"' "$BUILD/convolve_figures.json"
