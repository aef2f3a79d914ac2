#!/usr/bin/env bash
# A part of `make validate`: misses under other policies than LRU, of physically indexed caches and of two levels, as
# pmodel says they are from measured histograms, beside a simulator that was written from the definitions of these policies
# (tests/truth/caches.h), on every access of another run with the same addresses. The programs are those of
# bench/apps/sizes.conf at the largest size of `fit`.
#
# Writes docs/policies.md (ONLY=name,…: $BUILD/policies.md), $BUILD/policies.json (one object a program and level) and
# $BUILD/policies_figures.json.  Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/counts/policies.sh
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
# shellcheck source=tests/truth/tools.sh
. "$TOP/tests/truth/tools.sh"
# shellcheck source=tests/truth/machine_of_caches.bash
. "$TOP/tests/truth/machine_of_caches.bash"
new_folder policies
mkdir "$folder/tools" "$folder/machines"

small='size = 32KiB  ways = 8' large='size = 256KiB  ways = 16'
# Of what is random the mean counts: which pages share sets differs more from seed to seed than which blocks are replaced.
random_seeds=4 physical_seeds=16

# machine POLICY CACHES LEVEL...: the file is called POLICY.CACHES.
machine() {
    local name=$1.$2
    shift 2
    machine_of_caches "$folder/machines/$name.conf" "$@"
}

for policy in lru plru fifo random; do
    machine "$policy" small "$small  replacement = $policy"
    machine "$policy" large "$large  replacement = $policy"
done
machine physical large "$large  indexed = physical" # of the small one, a way is a page
for inclusion in neither inclusive exclusive; do
    machine "$inclusion" both "$small" "$large  inclusion = $inclusion"
done
# Not a row of the page: what says that both runs had the same addresses.
machine full small "${small/ways = 8/ways = 0}"
machine full large "${large/ways = 16/ways = 0}"

# measure NAME SIZE STORE TRACE [OPTION...]: TRACE is a file to record, or '-' and as many letters, so that both runs have the same layout of memory.
fixed_addresses='setarch -R'
$fixed_addresses true 2>/dev/null || fixed_addresses=''
measure() {
    local name=$1 size=$2 store=$3 trace=$4 arguments
    mapfile -t arguments < <(program_arguments "$name" fit)
    $fixed_addresses pmodel run -q --no-libm --no-behaviour -o "$store" --block 64 "${@:5}" --env "TRACE_FILE=$trace" \
        --env "PMODEL_HANDLER=$folder/tools/record_trace.so" -P "N=$size" -- "./$name" "${arguments[@]}" >/dev/null 2>errors ||
        die "$name: $(tail -1 errors)"
}

# simulate: a line of JSON for each level and seed, from ./trace.
simulate() {
    local seed
    "$folder/tools/simulate_caches" trace "$folder"/machines/*.conf # with seed 1
    for ((seed = 2; seed <= random_seeds; seed++)); do
        "$folder/tools/simulate_caches" -s "$seed" trace "$folder"/machines/random.*.conf
    done
    for ((seed = 2; seed <= physical_seeds; seed++)); do
        "$folder/tools/simulate_caches" -s "$seed" trace "$folder"/machines/physical.*.conf
    done
}

run_program() {
    local name=$1 size machines
    mkdir -p "$folder/$name"
    cd "$folder/$name"
    size=$(size_value "$name" fit)
    size=${size##* }
    # shellcheck disable=SC2046 # the flags are words
    build_program "$name" "./$name" $(pmodel flags)
    measure "$name" "$size" recorded.pmdb trace
    [ -s trace ] || die "$name: nothing was recorded"
    measure "$name" "$size" measured.pmdb -race --write-backs
    simulate >simulated.json
    rm trace
    machines=$(printf '%s,' "$folder"/machines/*.conf)
    pmodel query measured.pmdb -P "N=$size" -m "${machines%,}" --format json >query.json
    jq -c -L "$here" --arg name "$name" --argjson size "$size" --slurpfile simulated simulated.json 'include "policies";
        .answers[] | .cache as $cache
        | [$simulated[] | select(.machine == $cache.machine and .level == $cache.name)] as $runs
        | ($runs | map(.load_misses + .store_misses)) as $counts
        | {name: $name, size: $size, policy: ($cache.machine | split(".")[0]), caches: ($cache.machine | split(".")[1]),
           level: $cache.name, bytes: $cache.size_bytes, ways: $cache.ways, accesses, misses, interval,
           simulated: ($counts | mean), standard_error: ($counts | standard_error),
           write_backs, simulated_write_backs: ($runs | map(.write_backs + .dirty) | mean)}' query.json >rows.json
}

started=$SECONDS
TMP=$folder/tools
truth_tool simulate_caches caches.c && truth_recorder || die "the tools do not build"
running=0
names=$(program_names)
for name in $names; do
    if [ "$running" -ge "${JOBS:-$(nproc)}" ]; then
        wait -n || true
        running=$((running - 1))
    fi
    say "$name: misses by pmodel and by the simulator"
    (run_program "$name") &
    running=$((running + 1))
done
wait
rows=()
for name in $names; do
    [ -s "$folder/$name/rows.json" ] || die "$name could not be compared (the messages above say why)"
    rows+=("$folder/$name/rows.json")
done
jq -s . "${rows[@]}" >"$BUILD/policies.json"
page=$(page_of policies)
jq -L "$here" 'include "policies"; policies_figures' "$BUILD/policies.json" >"$BUILD/policies_figures.json"
jq -r -L "$here" 'include "policies"; page' "$BUILD/policies.json" | wrap >"$page"
say "$((SECONDS - started)) s; figures in $BUILD/policies_figures.json, tables in $page"
