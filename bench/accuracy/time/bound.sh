#!/usr/bin/env bash
# A part of `make validate` and of `make bench`: lower bounds (`pmodel bound`) of the example applications, of loops whose data
# fit in the first cache (bench/apps/bound/fitting.c), and of matrix products beside OpenBLAS (bench/apps/bound/blas_products.c; Fursin,
# O'Boyle, Temam & Watts 2004, sections 5.2 to 5.6).
#
# Writes docs/bound.md, $BUILD/bound_figures.json (of validate) and $BUILD/bound_costs.json (of bench). Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/time/bound.sh
# REUSE=1 makes page and figures from the last measurements.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
folder=$BUILD/bound
side=960 # of the matrices: a multiple of the tile's 4 rows and 12 columns, three of them 22 MB
export OPENBLAS_CORETYPE=Haswell OPENBLAS_NUM_THREADS=1

# bound NAME COMMAND...: its bounds as NAME.json, with the name.
bound() {
    local name=$1
    shift
    say "$name: bound its loops"
    rm -f "$name.pmdb"
    pmodel bound -q --threshold 1 --format json -o "$name.pmdb" -- "$@" 2>"$name.errors" >"$name.bounds" ||
        die "$name: $(tail -1 "$name.errors")"
    predicted "$name.pmdb" >"$name.predicted"
    jq -c --arg name "$name" --arg command "$*" --slurpfile predicted "$name.predicted" '. + {name: $name, command: $command}
        | .nests |= map(. + {predicted_seconds: (if .called_routines == 0 and .library_calls == 0 then $predicted[0][.key] else null end)})' \
        "$name.bounds" >"$name.json"
}

# predicted STORE: seconds of each scope with all that is in it, by key, if nothing missed a cache, on this processor as it was probed.
predicted() {
    local machine
    machine=$TOP/machines/measured/$(cpu_file_name).conf
    [ -s "$machine" ] || { echo '{}'; return; }
    pmodel report "$1" -m "$machine" --format json 2>/dev/null |
        jq '.predictions[0] | .machine.clock_hz as $hz | [.scopes[] | {key, value: (.total.schedule_cycles / $hz)}] | from_entries'
}

applications() {
    local name size arguments
    for name in heat adi cg ssor sweep multigrid fft; do
        build_program "$name" "./$name"
        for kind in in_l2 beyond_llc; do
            size=$(size_value "$name" "$kind")
            arguments=$(size_value "$name" "$kind.time")
            # shellcheck disable=SC2086 # the arguments are words
            bound "$name.$kind" "./$name" ${arguments//\{N\}/$size}
        done
    done
}

# Section 5.5: a search over compiler flags, of heat beyond the caches, and when it may stop.
builds() {
    local flags arguments
    arguments=$(size_value heat beyond_llc.time)
    arguments=${arguments//\{N\}/$(size_value heat beyond_llc)}
    for flags in -O1 -O2 -O3 '-O3 -march=x86-64-v3' '-O3 -march=x86-64-v3 -funroll-loops' '-Ofast -march=x86-64-v3'; do
        say "heat $flags: bound its loops"
        # shellcheck disable=SC2086 # the flags are words
        gcc $flags -g -o heat.build "$apps/heat/heat.c" -lm
        # shellcheck disable=SC2086 # the arguments are words
        pmodel bound -q -o "heat ${flags//\//_}.pmdb" -- ./heat.build $arguments >builds.out 2>&1 || die "heat $flags: $(tail -1 builds.out)"
    done
    pmodel bound --format json heat\ *.pmdb >builds
}

# Seconds of one product by OpenBLAS, the median of five.
blas_seconds() {
    BLAS=$(dpkg-query -L libopenblas0-pthread | grep -E '/libopenblas.*\.so\.0$' | head -1) \
        ./blas_products dgemm "$side" 5 2>&1 >/dev/null | sort -n | sed -n 3p
}

# The counter formula of section 5.6: accesses and misses by cachegrind, of a smaller product of the same kind.
counted() {
    valgrind --tool=cachegrind --cache-sim=yes --D1=32768,8,64 --LL=2097152,16,64 --cachegrind-out-file=cachegrind.out \
        ./blas_products tiled "$((side / 2))" 1 >/dev/null 2>&1
    awk '/^events: / { for (i = 2; i <= NF; i++) column[$i] = i - 1 }
         /^summary: / { refs = $(column["Dr"] + 1) + $(column["Dw"] + 1); l1 = $(column["D1mr"] + 1) + $(column["D1mw"] + 1)
             printf "{\"refs\": %.0f, \"l1_miss_ratio\": %.6f}", refs, l1 / refs }' cachegrind.out
}

if [ -z "${REUSE-}" ]; then
    dpkg-query -W libopenblas0-pthread >/dev/null 2>&1 || sh "$TOP/tests/setup" real
    rm -rf "$folder"
    mkdir -p "$folder"
    cd "$folder"
    for program in fitting blas_products; do
        # shellcheck disable=SC2046 # the flags are words
        gcc $(size_value all flags) -o "$program" "$apps/bound/$program.c" -ldl
    done
    applications
    bound fitting ./fitting
    bound tiled ./blas_products tiled "$side" 3
    bound ikj ./blas_products ikj "$side" 2
    bound ijk ./blas_products ijk "$side" 1
    builds
    blas_seconds >blas
    counted >counted
fi
cd "$folder"
jq -s . ./*.in_l2.json ./*.beyond_llc.json >applications
for part in figures costs; do
    jq -L "$here" --slurpfile fitting fitting.json --slurpfile tiled tiled.json --argjson blas "$(cat blas)" \
        "include \"bound\"; bound_$part(\$fitting[0]; \$tiled[0]; \$blas)" applications >"$BUILD/bound_$part.json"
done
page=$TOP/docs/bound.md
jq -s . tiled.json ikj.json ijk.json >products.all
jq -r -L "$here" --arg cpu "$(cpu_name)" --slurpfile fitting fitting.json --slurpfile products products.all --argjson blas "$(cat blas)" \
    --slurpfile counted counted --slurpfile builds builds --slurpfile figures "$BUILD/bound_figures.json" --slurpfile costs "$BUILD/bound_costs.json" \
    'include "bound"; page($cpu; $fitting[0]; $products[0]; $blas; $counted[0]; $builds[0]; $figures[0] + $costs[0])' applications | wrap >"$page"
jq -r '.[] | "\(.name) \(.value)"' "$BUILD/bound_figures.json" "$BUILD/bound_costs.json"
say "figures in $BUILD/bound_figures.json and $BUILD/bound_costs.json, tables in $page"
