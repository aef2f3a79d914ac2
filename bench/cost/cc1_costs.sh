#!/usr/bin/env bash
# What instrumenting a large program costs: GCC's cc1, which is mostly calls and short blocks, compiles
# the preprocessed C sources of bench/apps at -O2; plainly, as a copy whose code only moved, and as one
# with edge counters, which writes its raw file.  A line of JSON for each round and way, and for each
# time that `pmodel run` instruments cc1 and runs it on nothing:
#
#     {"way": "native", "round": 1, "seconds": 1.5}              CPU time; way: native, relocated, edges
#     {"way": "rewrite", "round": 1, "seconds": 14, "mib": 1300} elapsed time, largest memory in use
#
#     cc1_costs.sh FOLDER [ROUNDS]     scratch files go to the folder, which is made anew
# BUILD and PATH as for the other scripts of this folder.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../lib/bench.bash"
folder=$1 rounds=${2:-5} rewrite_rounds=3
rm -rf "$folder"
mkdir -p "$folder" && cd "$folder"

runtime=$BUILD/lib/pmodel/libpmodel-rt.so
large=$(gcc -print-prog-name=cc1)
read -ra libraries <"$BUILD/ldlibs"
gcc -std=gnu11 -O1 -fopenmp -I"$TOP" -o instrument_tool "$TOP/tests/rewrite/instrument_tool.c" \
    -Wl,--start-group "$BUILD"/libpm_binlift.a \
    "$BUILD"/libpm_measure.a "$BUILD"/libpm_core.a -Wl,--end-group "${libraries[@]}"

for round in $(seq $rewrite_rounds); do
    rm -f store.pmdb
    command time -o used -f '%e %M' pmodel run -q --no-memory -o store.pmdb -- "$large" --version \
        >/dev/null 2>errors </dev/null || die "pmodel run of cc1: $(tail -1 errors)"
    awk -v round="$round" '{ printf "{\"way\": \"rewrite\", \"round\": %d, \"seconds\": %s, \"mib\": %.0f}\n",
        round, $1, $2 / 1024 }' used
done
rm -f store.pmdb

for source in $(awk '$1 != "#" && $2 == "source" && $3 ~ /\.c$/ { print $3 }' "$sizes" | sort -u); do
    gcc -E "$apps/$source" -o "$(basename "$source" .c).i"
done
ln -s "$large" native
./instrument_tool -n -r "$runtime" "$large" relocated
./instrument_tool -r "$runtime" "$large" edges

# compile WAY: all sources, into one file.
compile() {
    local input
    for input in *.i; do
        "./$1" -quiet -O2 "$input" -o "$1.s" && cat "$1.s"
    done >"$1.all"
}

mkdir raw
export PMODEL_OUT=$folder/raw
TIMEFORMAT='%U %S'
for round in $(seq "$rounds"); do
    ways=(native relocated edges)
    for way in "${ways[@]:round % 3}" "${ways[@]:0:round % 3}"; do
        used=$({ time compile "$way" 2>errors; } 2>&1) || die "cc1 as $way: $(tail -1 errors)"
        rm -f raw/*
        awk -v way="$way" -v round="$round" \
            '{ printf "{\"way\": \"%s\", \"round\": %d, \"seconds\": %s}\n", way, round, $1 + $2 }' <<<"$used"
    done
    cmp native.all relocated.all >&2 && cmp native.all edges.all >&2 || die "cc1 writes something else"
done
