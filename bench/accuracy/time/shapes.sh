#!/usr/bin/env bash
# The Origin 2000's shapes, as Marin & Mellor-Crummey 2004 describe their Figures 6 to 8: misses of the 8 MB cache rise where the
# working set outgrows it, TLB misses are few, and which cost is the largest where; then the time if each miss waits for a
# dirty line, 135 cycles for 92 (Figure 8, curve B).  A comparison of shapes, and no more: nobody here has the machine, and the
# applications are not theirs.
#
# Counted at the sizes `fit` of bench/apps/sizes.conf, predicted for the machine r12000 by the papers' formula (--time simple) at
# sizes around the one whose working set is as large as the cache.  Writes docs/shapes.md, with ONLY=name,… $BUILD/shapes.md.
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/time/shapes.sh
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
in_folder shapes
rm -f "$folder"/*.shape
machine=r12000
# Programs on a grid of N^3 cells, and the bytes of a cell that sizes.conf tells.
declare -A cell_bytes=([heat]=16 [adi]=120 [ssor]=128 [sweep]=48)
names=${ONLY:-heat,adi,ssor,sweep}

figure() { pmodel machines --format json "$machine" | jq -r --arg name "$1" '[.. | objects | select(.name? == $name) | .number] | first'; }
cache=$(figure L2.size)
dirty=$(jq -n --argjson latency "$(figure memory.latency_dirty)" --argjson l2 "$(figure L2.latency)" '$latency - $l2')

# sizes_around BYTES: where N^3 cells are 0.1 to 16 times the cache, multiples of four.
sizes_around() { jq -rn --argjson c "$cache" --argjson b "$1" '[0.1, 0.25, 0.5, 0.7, 1, 1.4, 2, 4, 8, 16 | pow(. * $c / $b; 1 / 3) / 4 | round * 4] | unique | join(",")'; }

for name in ${names//,/ }; do
    say "$name: count"
    # shellcheck disable=SC2046 # the flags are words
    build_program "$name" "$folder/$name" $(pmodel flags)
    mapfile -t arguments < <(program_arguments "$name" fit)
    fit=$(size_value "$name" fit)
    pmodel run -q -o "$folder/$name.pmdb" -m "$machine" -P "N=${fit// /,}" -- "$folder/$name" "${arguments[@]}" >/dev/null
    pmodel fit "$folder/$name.pmdb" >/dev/null
    around=$(sizes_around "${cell_bytes[$name]}")
    for penalty in "" "--set L2.miss_penalty=$dirty"; do
        # shellcheck disable=SC2086 # two words or none
        pmodel report --as scaling "$folder/$name.pmdb" -m "$machine" $penalty --time simple --per 'N^3' -P "N=$around" --format json
    done | jq -s -c --arg name "$name" --argjson bytes "${cell_bytes[$name]}" --argjson cache "$cache" \
        '{name: $name, bytes: $bytes, cache: $cache, clean: .[0], dirty: .[1]}' >"$folder/$name.shape"
done
page=$(page_of shapes)
jq -rs -L "$here" --argjson dirty "$dirty" 'include "shapes"; page($dirty)' "$folder"/*.shape | wrap >"$page"
say "tables in $page"
