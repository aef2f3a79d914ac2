#!/usr/bin/env bash
# A part of `make validate`: how many innermost loops of the example applications, OpenBLAS, FFTW and GSL the loop
# runner (machines/probe/loop_runner/) can run alone, and why it cannot run the others; and how far three runs of the
# applications' loops differ.
#
# Which files: bench/lib/alone_files.bash.  Libraries that are not installed are asked for by apt-get.
#
# Writes docs/loops-alone.md, $BUILD/loops_alone.json (an object for each file) and $BUILD/loops_alone_figures.json.
# Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/machines/loops_alone.sh
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
# shellcheck source=bench/lib/alone_files.bash
. "$bench/lib/alone_files.bash"
new_folder loops_alone

for name in $(alone_names); do
    say "$name: run its loops alone"
    run_alone "$name" >"$folder/$name.json"
done
for program in "$BUILD"/apps/*; do
    [ -f "$program" ] || continue
    name=$(basename "$program")
    for again in 2 3; do
        run_alone "$name" >"$folder/$name.$again"
    done
    jq -s -c . "$folder/$name.json" "$folder/$name.2" "$folder/$name.3" >"$folder/$name.runs"
done

jq -s . "$folder"/*.json >"$BUILD/loops_alone.json"
jq -s . "$folder"/*.runs >"$folder/runs"
page=$TOP/docs/loops-alone.md
jq -L "$here" 'include "loops_alone"; loops_alone_figures' "$BUILD/loops_alone.json" >"$BUILD/loops_alone_figures.json"
jq -r -L "$here" --arg cpu "$(cpu_name)" --slurpfile runs "$folder/runs" 'include "loops_alone"; page($cpu; $runs[0])' \
    "$BUILD/loops_alone.json" | wrap >"$page"
jq -r '.[] | "\(.name) \(.value)"' "$BUILD/loops_alone_figures.json"
say "figures in $BUILD/loops_alone_figures.json, tables in $page"
