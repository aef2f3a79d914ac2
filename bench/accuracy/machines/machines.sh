#!/usr/bin/env bash
# A part of `make validate`: which figures of the shipped machine files are unverified, and how far their rows agree with
# llvm-mca's instruction tables (machines/checks/).
#
# Writes docs/machines.md, $BUILD/machines.json (one object a machine) and $BUILD/machines_figures.json.  Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/machines/machines.sh
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
checks=$TOP/machines/checks
new_folder machines

rows=()
for name in $(pmodel machines | awk '{ print $1 }'); do
    pmodel machines "$name" --format json >"$folder/$name.json"
    echo null >"$folder/$name.llvm"
    if grep -q "^$name " "$checks/llvm.machines"; then
        "$checks/llvm-mca.sh" --summary "$name" >"$folder/$name.llvm"
    fi
    jq -L "$here" --slurpfile llvm "$folder/$name.llvm" 'include "machines"; machine_row($llvm[0])' \
        "$folder/$name.json" >"$folder/$name.row"
    rows+=("$folder/$name.row")
done
jq -s . "${rows[@]}" >"$BUILD/machines.json"
page=$TOP/docs/machines.md
jq -L "$here" 'include "machines"; machines_figures' "$BUILD/machines.json" >"$BUILD/machines_figures.json"
jq -r -L "$here" 'include "machines"; page' "$BUILD/machines.json" | wrap >"$page"
say "figures in $BUILD/machines_figures.json, tables in $page"
