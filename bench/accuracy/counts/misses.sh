#!/usr/bin/env bash
# A part of `make validate`: misses in caches of sets beside cachegrind's, in three steps, so that what the sets
# are wrong by and what the models are wrong by can be told apart:
#   measured   from measured histograms, at the same size
#   resonance  predicted at sizes that are powers of two, and near them, from sizes that are none
#   predicted  at twice and four times the largest size that was fitted
# and, since cachegrind knows routines and lines but no loops, loop by loop with a simulator of all accesses (tests/truth/caches.h):
# measured, and predicted at twice the size.
# The programs are those of bench/apps/sizes.conf.
#
# Writes docs/misses.md (ONLY=name,…: $BUILD/misses.md), $BUILD/misses.json (one object a size and cache) and
# $BUILD/misses_figures.json.  TIME_LIMIT: seconds for one run of cachegrind; what needs longer has no row.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
# shellcheck source=bench/lib/cachegrind.bash
. "$bench/lib/cachegrind.bash"
# shellcheck source=tests/truth/tools.sh
. "$TOP/tests/truth/tools.sh"
# shellcheck source=tests/truth/machine_of_caches.bash
. "$TOP/tests/truth/machine_of_caches.bash"
new_folder misses
time_limit=${TIME_LIMIT:-60}
mkdir "$folder/tools" "$folder/machines"

# Caches as query takes them, of 64-byte lines.
measured_caches='32K/1 32K/2 32K/4 32K/8 32K/16 1M/16'
resonance_caches='32K/2 32K/8'
predicted_caches='32K/8 32K/16 1M/16'
larger=33554432,16,64 # a last level for cachegrind, behind the one that is looked at

# Step two: program, sizes to fit, sizes to predict; a time step of adi at 128 has four thousand million accesses.
resonance='
matmul_ijk 36,48,60,72,84,96 127,128,129,144,160,192
heat 36,44,52,60,68,76 127,128,129,144,160,192
adi 10,12,14,18,20,22,24,26 31,32,33,36,40,48'

# as_cachegrind CACHE: size,ways,line
as_cachegrind() {
    local size=${1%/*}
    case $size in
    *K) size=$((${size%K} * 1024)) ;;
    *M) size=$((${size%M} * 1048576)) ;;
    esac
    printf '%s,%s,64' "$size" "${1#*/}"
}

# store_of NAME SIZES STORE: measures at these sizes, and makes models of more than one.
store_of() {
    local name=$1 values=$2 store=$3 arguments
    mapfile -t arguments < <(program_arguments "$name" fit)
    pmodel run -q --no-libm --no-behaviour -o "$store" --block 64 -P "N=$values" -- "../$name" "${arguments[@]}" >/dev/null
    case $values in
    *,*) pmodel fit "$store" >/dev/null ;;
    esac
}

# compare STEP NAME STORE SIZES CACHES: a folder with what pmodel says, and a job for each run of cachegrind.
compare() {
    local step=$1 name=$2 store=$3 values=$4 caches=$5 size cache
    pmodel query "$store" -P "N=$values" --cache "32K,1M,${caches// /,}" --format json >"$step.json"
    for size in ${values//,/ }; do
        for cache in $caches; do
            printf '%s %s %s %s\n' "$step" "$name" "$size" "$cache" >>"$folder/jobs"
        done
    done
}

# run_job NUMBER STEP NAME SIZE CACHE: a row, of what pmodel says and cachegrind counts.
run_job() {
    local number=$1 step=$2 name=$3 size=$4 cache=$5 arguments counts
    mkdir -p "$folder/$number"
    cd "$folder/$number"
    : >"$folder/$number.row"
    [ ! -e "$folder/$name/too_long.$size" ] || return 0
    mapfile -t arguments < <(program_arguments "$name" fit)
    arguments=("${arguments[@]//'{N}'/$size}")
    counts=$(count_misses "$(as_cachegrind "$cache")" "$larger" "../$name/$name" "${arguments[@]}")
    [ "$counts" != null ] || : >"$folder/$name/too_long.$size"
    jq -c --arg step "$step" --arg name "$name" --argjson size "$size" --argjson counts "$counts" \
        --arg cache "$(as_cachegrind "$cache")" '
        ($cache | split(",") | map(tonumber)) as [$bytes, $ways]
        | [.answers[] | select(.parameters.N == $size and .cache.size_bytes == $bytes)] as $rows
        | ($rows[] | select(.cache.ways == $ways)) as $row
        | {step: $step, name: $name, size: $size, bytes: $bytes, ways: $ways, misses: $row.misses, interval: $row.interval,
           full: ($rows[] | select(.cache.ways == null) | .misses), cachegrind: $counts.first}' \
        "../$name/$step.json" >"$folder/$number.row"
}

# by_loop STEP NAME STORE SIZE: a row for each loop, of what pmodel says and the simulator counts.  Both runs have one layout of memory.
by_loop() {
    local step=$1 name=$2 store=$3 size=$4 arguments machines
    mapfile -t arguments < <(program_arguments "$name" fit)
    mkdir -p "$folder/$name/$step.loops"
    cd "$folder/$name/$step.loops"
    machines=$(printf '%s,' "$folder"/machines/*.conf)
    pmodel query "../$store" -P "N=$size" -m "${machines%,}" --level group --format json >query.json
    mkfifo trace
    "$folder/tools/simulate_caches" -g trace "$folder"/machines/*.conf >simulated.json &
    $fixed_addresses pmodel run -q --no-libm --no-behaviour -o recorded.pmdb --block 64 --env TRACE_FILE=trace \
        --env "PMODEL_HANDLER=$folder/tools/record_trace.so" -P "N=$size" -- "../$name" "${arguments[@]}" >/dev/null 2>errors ||
        die "$name: $(tail -1 errors)"
    wait
    jq -c --arg step "$step" --arg name "$name" --argjson size "$size" --slurpfile simulated simulated.json '
        [$simulated[] | select(.group != null) | {key: "\(.machine) \(.group)", value: (.load_misses + .store_misses)}] as $counts
        | ($counts | from_entries) as $counts
        | [.answers[] | {machine: .cache.machine, bytes: .cache.size_bytes, ways: .cache.ways, loop: .part.key,
                         label: (.part.label | sub("^.* in "; "")), misses, simulated: ($counts["\(.cache.machine) \(.part.group)"] // 0)}]
        | group_by(.machine, .loop)[] | (map(.simulated) | add) as $sum | .[0]
            + {step: $step, name: $name, size: $size, misses: (map(.misses) | add), simulated: $sum}' query.json >loops.json
}

# prepare NAME: builds it, and asks pmodel all that will be compared.
prepare() {
    local name=$1 fit predict small more line
    mkdir -p "$folder/$name/steps"
    cd "$folder/$name"
    fit=$(size_value "$name" fit)
    predict=$(size_value "$name" predict)
    # shellcheck disable=SC2046 # the flags are words
    build_program "$name" "./$name" $(pmodel flags)
    cd steps
    say "$name: misses by pmodel"
    store_of "$name" "${fit##* }" ../measured.pmdb
    store_of "$name" "${fit// /,}" ../predicted.pmdb
    cd ..
    compare measured "$name" measured.pmdb "${fit##* }" "$measured_caches"
    compare predicted "$name" predicted.pmdb "${predict// /,}" "$predicted_caches"
    while read -r line small more; do
        if [ "$line" = "$name" ]; then
            (cd steps && store_of "$name" "$small" ../resonance.pmdb)
            compare resonance "$name" resonance.pmdb "$more" "$resonance_caches"
        fi
    done <<<"$resonance"
}

started=$SECONDS
TMP=$folder/tools
truth_tool simulate_caches caches.c && truth_recorder || die "the tools do not build"
machine_of_caches "$folder/machines/small.conf" 'size = 32KiB  ways = 8'
machine_of_caches "$folder/machines/large.conf" 'size = 1MiB  ways = 16'
fixed_addresses='setarch -R'
$fixed_addresses true 2>/dev/null || fixed_addresses=''
for name in $(program_names); do
    (prepare "$name")
done
say "misses by cachegrind: $(wc -l <"$folder/jobs") runs"
number=0
running=0
while read -r job; do
    number=$((number + 1))
    if [ "$running" -ge "${JOBS:-$(nproc)}" ]; then
        wait -n || true
        running=$((running - 1))
    fi
    # shellcheck disable=SC2086 # the fields are words
    run_job "$number" $job </dev/null &
    running=$((running + 1))
done <"$folder/jobs"
wait
say "misses by loop"
for name in $(program_names); do
    fit=$(size_value "$name" fit)
    predict=$(size_value "$name" predict)
    (by_loop measured "$name" measured.pmdb "${fit##* }") </dev/null &
    (by_loop predicted "$name" predicted.pmdb "${predict%% *}") </dev/null &
    wait
done
cat "$folder"/*/*.loops/loops.json | jq -s . >"$BUILD/misses_loops.json"
rows=()
for ((i = 1; i <= number; i++)); do
    rows+=("$folder/$i.row")
done
jq -s . "${rows[@]}" >"$BUILD/misses.json"
page=$(page_of misses)
jq -L "$here" --slurpfile loops "$BUILD/misses_loops.json" 'include "misses"; misses_figures($loops[0])' "$BUILD/misses.json" >"$BUILD/misses_figures.json"
jq -r -L "$here" --slurpfile loops "$BUILD/misses_loops.json" 'include "misses"; page($loops[0])' "$BUILD/misses.json" | wrap >"$page"
say "$((SECONDS - started)) s; figures in $BUILD/misses_figures.json, tables in $page"
