#!/usr/bin/env bash
# A part of `make validate`: misses by histograms of reuse distances, which are those of fully associative
# LRU caches, beside cachegrind's, of caches with few ways and with more and more of them, up to one set.
# The programs are those of bench/apps/sizes.conf at the largest size of `fit`.
#
# Writes docs/reuse.md (ONLY=name,…: $BUILD/reuse.md) and $BUILD/associativity.json.  TIME_LIMIT: seconds
# for one run.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
# shellcheck source=bench/lib/reuse.bash
. "$bench/lib/reuse.bash"
# shellcheck source=bench/lib/cachegrind.bash
. "$bench/lib/cachegrind.bash"
in_folder associativity
time_limit=${TIME_LIMIT:-300}
rm -f "$folder"/*.json

# Caches of 64-byte lines: 512 and 16384 blocks; the last ways are all.
d1_bytes=32768 d1_ways='8 16 32 512'
ll_bytes=1048576 ll_ways='16 32 128 16384'
larger=33554432,16,64 # than what is looked at

# by_histograms STORE: touches, and misses of fully associative caches of 512 and 16384 blocks.
by_histograms() {
    bins "$1" | awk -v first="$((d1_bytes / 64))" -v last="$((ll_bytes / 64))" '
        { all += $4 }
        $1 != "reuse" || $2 >= first { first_misses += $4 }
        $1 != "reuse" || $2 >= last { last_misses += $4 }
        END { printf "{\"accesses\": %.0f, \"first\": %.0f, \"last\": %.0f}", all, first_misses, last_misses }'
}

compare_program() {
    local name=$1 size arguments ways list=''
    size=$(size_value "$name" fit)
    size=${size##* }
    mapfile -t arguments < <(program_arguments "$name" fit)
    # shellcheck disable=SC2046 # the flags are words
    build_program "$name" "./$name" $(pmodel flags)
    rm -f store.pmdb
    pmodel run -q --no-libm --no-behaviour -o store.pmdb --block 64 --bin-width 0 -P "N=$size" -- "./$name" "${arguments[@]}" >/dev/null
    arguments=("${arguments[@]//'{N}'/$size}")
    for ways in $d1_ways; do
        list+="{\"level\": \"first\", \"ways\": $ways, \"counts\": $(count_misses \
            "$d1_bytes,$ways,64" "$ll_bytes,16,64" "./$name" "${arguments[@]}")}"
    done
    # As the only level, because behind another one a cache sees less, and keeps another order.
    for ways in $ll_ways; do
        list+="{\"level\": \"last\", \"ways\": $ways, \"counts\": $(count_misses \
            "$ll_bytes,$ways,64" "$larger" "./$name" "${arguments[@]}")}"
    done
    jq -n --arg name "$name" --argjson size "$size" --argjson histograms "$(by_histograms store.pmdb)" \
        --slurpfile cachegrind <(printf '%s' "$list") '{$name, $size, $histograms, $cachegrind}' >"$name.json"
}

cd "$folder"
started=$SECONDS
results=()
for name in $(program_names); do
    say "$name: misses by histograms and by cachegrind"
    compare_program "$name"
    results+=("$folder/$name.json")
done
jq -s . "${results[@]}" >"$BUILD/associativity.json"
bash "$here/interpolation.sh"
page=$(page_of reuse)
jq -r -L "$here" 'include "associativity"; page' "$BUILD/associativity.json" | wrap >"$page"
jq -r -L "$here" 'include "associativity"; "", interpolated' "$BUILD/interpolation.json" | wrap >>"$page"
say "$((SECONDS - started)) s; figures in $BUILD/associativity.json, tables in $page"
