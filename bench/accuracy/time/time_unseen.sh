#!/usr/bin/env bash
# A part of bench/accuracy/time/time.sh, with UNSEEN=1: three programs from Debian's sources, which nothing was tuned to, as they are.
# They are counted at small sizes, and the time that is predicted for a size some times beyond them is set beside a clock's.
#
#   bzip2    compresses N kilobytes of text              (integers, sorting)
#   libsvm   trains a classifier with N vectors          (floating point, a cache of its own, C++)
#   qhull    convex hull of N points in five dimensions  (pointers, small vectors)
#
# Writes $BUILD/time/NAME.unseen for each.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
TMP=$BUILD/time/unseen # for what is sourced
mkdir -p "$TMP"
fail() { say "$1"; exit 1; }
# shellcheck source=tests/real/real.bash
. "$TOP/tests/real/real.bash"
# shellcheck source=tests/real/programs.bash
. "$TOP/tests/real/programs.bash"
folder=$BUILD/time
work=$folder/unseen
repeat=$((${ROUNDS:-3} * ${REPEAT:-3}))
read -ra flags <<<"$(size_value all flags) $(pmodel flags)"
mkdir -p "$work"
cd "$work"

# text N: a file of N kilobytes, the same every time.
text() { generate_text "$((1000 * $1))" >"text.$1"; }

# vectors N: N labelled vectors of 20 numbers, as libsvm reads them.
vectors() {
    awk -v n="$1" 'BEGIN { srand(3)
        for (i = 0; i < n; i++) {
            sum = 0; line = ""
            for (k = 1; k <= 20; k++) { x = rand() * 2 - 1; sum += k % 3 ? x : -x; line = line " " k ":" sprintf("%.4f", x) }
            print (sum + rand() > 0.5 ? "+1" : "-1") line
        } }' >"vectors.$1"
}

# points N: N points in a cube of five dimensions, as qhull reads them.
points() {
    awk -v n="$1" 'BEGIN { srand(5); print 5; print n
        for (i = 0; i < n; i++) printf "%.6f %.6f %.6f %.6f %.6f\n", rand(), rand(), rand(), rand(), rand() }' >"points.$1"
}

build_unseen() {
    case $1 in
    bzip2) (cd bzip2 && gcc "${flags[@]}" -o ../bzip2.program blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c \
        bzlib.c bzip2.c) ;;
    libsvm) (cd libsvm && g++ "${flags[@]}" -o ../libsvm.program svm.cpp svm-train.c) ;;
    qhull) (cd qhull/src && gcc "${flags[@]}" -I. -o ../../qhull.program libqhull/*.c qhull/unix.c -lm) ;;
    esac
}

# judge NAME MAKER FIT PREDICT COMMAND...: input of all sizes is made by MAKER.
judge() {
    local name=$1 maker=$2 fit=$3 predict=$4 size
    shift 4
    [ -d "$name" ] || debian_source "$name" || { say "$name: no source"; return; }
    build_unseen "$name" || { say "$name: does not build"; return; }
    for size in $fit $predict; do
        "$maker" "$size"
    done
    rm -f "$name.pmdb"
    pmodel run -q -o "$name.pmdb" -m "$folder/host.conf" -P "N=${fit// /,}" -- "$@" >/dev/null
    pmodel fit "$name.pmdb" >/dev/null
    "${alone[@]}" pmodel validate --time -q -s "$name.pmdb" -m "$folder/host.conf" --repeat "$repeat" --format json \
        -P "N=$predict" -- "$@" >"$name.round" 2>errors || { say "$name: $(tail -1 errors)"; return; }
    jq -s -c -L "$here" --arg name "$name" 'include "time"; join_rounds($name; "unseen")' "$name.round" >"$folder/$name.unseen"
}

judge bzip2 text "100 150 200 250 300 400" 1600 ./bzip2.program -9 -k -c 'text.{N}'
judge libsvm vectors "100 150 200 250 300 400" 1600 ./libsvm.program -q 'vectors.{N}' model.out
judge qhull points "200 300 400 500 600 800" 3200 ./qhull.program TI 'points.{N}' s
