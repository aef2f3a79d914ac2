#!/usr/bin/env bash
# A part of `make validate`: three whole probes of this machine in a row, whether their intervals agree, whether the sizes of L1
# and L2 are those of the processor's makers, whether bandwidths are those of likwid-bench, and how well units that were inferred
# predict multisets of instructions.  The core is taken for an unknown one, so that each figure was measured.
#
# Writes docs/probe.md, $BUILD/probe.json and $BUILD/probe_figures.json.  Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/machines/probe.sh
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
# shellcheck source=bench/lib/likwid.bash
. "$bench/lib/likwid.bash"
new_folder probe

for run in 1 2 3; do
    say "probe this machine, run $run of 3"
    SECONDS=0
    pmodel probe --infer -o "$folder/$run.conf" 2>"$folder/$run.progress"
    seconds=$SECONDS
    pmodel machines "$folder/$run.conf" --format json |
        jq --argjson seconds "$seconds" --rawfile text "$folder/$run.conf" '. + {seconds: $seconds, head: ($text | split("\n")[0:40])}' \
            >"$folder/$run.json"
done

say "bandwidths by likwid-bench"
dpkg-query -W likwid >/dev/null 2>&1 || sh "$TOP/tests/setup" real
for run in 1 2 3; do
    likwid_compare "$folder/$run.json" >"$folder/$run.likwid"
done

# The data caches of processors by their makers' documents, in bytes: family and model as cpuid has them.
sizes=$here/probe_sizes.conf
name=$(cpu_file_name)
read -r l1 l2 < <(awk -v name="$name" '$1 == name { print $2, $3 }' "$sizes") || true

jq -s -L "$here" --arg name "$name" --arg l1 "${l1:-0}" --arg l2 "${l2:-0}" --slurpfile likwid <(cat "$folder"/[123].likwid) \
    'include "probe"; summary($name; $l1; $l2; $likwid)' \
    "$folder"/[123].json >"$BUILD/probe.json"
jq -L "$here" 'include "probe"; figures' "$BUILD/probe.json" >"$BUILD/probe_figures.json"
jq -r -L "$here" --arg cpu "$(cpu_name)" 'include "probe"; page($cpu)' "$BUILD/probe.json" | wrap >"$TOP/docs/probe.md"
