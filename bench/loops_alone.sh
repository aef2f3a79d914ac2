#!/usr/bin/env bash
# A part of `make validate`: how many innermost loops of the example applications, OpenBLAS, FFTW and GSL the loop
# runner (machines/probe/loops/) can run alone, and why it cannot run the others; and how far three runs of the
# applications' loops differ.
#
# Of OpenBLAS, which has a copy of its kernels for each processor, the ones for Haswell: x86-64-v3, as the
# applications are.  Libraries that are not installed are asked for by apt-get.
#
# Writes docs/loops-alone.md, $BUILD/loops_alone.json (an object for each file) and $BUILD/loops_alone_figures.json.
# Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/loops_alone.sh
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/lib.sh
. "$here/lib.sh"
folder=$BUILD/loops_alone
rm -rf "$folder"
mkdir -p "$folder"

# library PACKAGE PATTERN: the first file of the installed package that the pattern fits.
library() {
    dpkg-query -L "$1" 2>/dev/null | grep -E -- "$2" | head -1 | xargs -r readlink -f
}

# run_alone NAME FILE [OPTION]...: the loops of FILE, into NAME.json.
run_alone() {
    local name=$1 file=$2
    shift 2
    say "$name: run its loops alone"
    pmodel loops --time --format json "$@" "$file" >"$folder/$name.times"
    jq -c --arg file "$name" '. + {file: $file}' "$folder/$name.times" >"$folder/$name.json"
}

libraries=(libopenblas0-pthread libfftw3-double3 libgsl27)
dpkg-query -W "${libraries[@]}" >/dev/null 2>&1 || sh "$here/../tests/setup" real
for program in "$BUILD"/apps/*; do
    run_alone "$(basename "$program")" "$program"
done
for again in 2 3; do
    mkdir -p "$folder/$again"
    for program in "$BUILD"/apps/*; do
        pmodel loops --time --format json "$program" >"$folder/$again/$(basename "$program")"
    done
done
for program in "$BUILD"/apps/*; do
    name=$(basename "$program")
    jq -s -c . "$folder/$name.times" "$folder/2/$name" "$folder/3/$name" >"$folder/$name.runs"
done
run_alone OpenBLAS "$(library libopenblas0-pthread '/libopenblas.*\.so\.0$')" --routine '*_HASWELL'
run_alone FFTW "$(library libfftw3-double3 '/libfftw3\.so\.3$')"
run_alone GSL "$(library libgsl27 '/libgsl\.so\.27$')"

jq -s . "$folder"/*.json >"$BUILD/loops_alone.json"
jq -s . "$folder"/*.runs >"$folder/runs"
page=$(dirname "$here")/docs/loops-alone.md
jq -L "$here" 'include "loops_alone"; loops_alone_figures' "$BUILD/loops_alone.json" >"$BUILD/loops_alone_figures.json"
jq -r -L "$here" --arg cpu "$(cpu_name)" --slurpfile runs "$folder/runs" 'include "loops_alone"; page($cpu; $runs[0])' \
    "$BUILD/loops_alone.json" >"$page"
jq -r '.[] | "\(.name) \(.value)"' "$BUILD/loops_alone_figures.json"
say "figures in $BUILD/loops_alone_figures.json, tables in $page"
