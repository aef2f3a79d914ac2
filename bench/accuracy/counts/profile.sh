#!/usr/bin/env bash
# Profiles of basic blocks (`pmodel run --profile`) beside what is independent of them, and what they cost.  For each program of
# bench/apps/sizes.conf, built for x86-64-v3, at the size `in_l2`:
#   misses of two caches                cachegrind
#   floating-point operations           counts by hand, of some loops
#   strides of innermost loops          the compiler's strides
# and at `beyond_llc` CPU time over that of the plain program, with one machine simulated.
#
# Writes docs/profile.md (ONLY=name,…: $BUILD/profile.md), $BUILD/profile_figures.json and $BUILD/profile_costs.json.  Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/counts/profile.sh
# COSTS=1: only the last.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
# shellcheck source=bench/lib/cachegrind.bash
. "$bench/lib/cachegrind.bash"
# shellcheck source=tests/truth/machine_of_caches.bash
. "$TOP/tests/truth/machine_of_caches.bash"
new_folder profile
time_limit=300 rounds=${ROUNDS:-3} machine=sapphire-rapids
cd "$folder"
machine_of_caches caches.conf 'size = 32KiB  ways = 8' 'size = 1MiB  ways = 16'

# cpu_seconds COMMAND...: user and system.
cpu_seconds() {
    local times TIMEFORMAT='%U %S'
    times=$({ time timeout "$time_limit" "$@" >/dev/null 2>errors; } 2>&1) || die "status $? from: $* ($(tail -1 errors))"
    awk '{ print $1 + $2 }' <<<"$times"
}

# arguments_of NAME KIND: with the size in place.
arguments_of() {
    local size
    size=$(size_value "$1" "$2")
    size_value "$1" "$2.run" | sed "s/{N}/$size/g" | tr -s ' ' '\n'
}

# by_hand NAME N PROFILE: pairs of counted and expected operations of loops whose source says how many there are.
by_hand() {
    jq -c --arg name "$1" --argjson n "$2" --argjson rows "$(sed -n 's/.* \([0-9]*\) entries.*/\1/p' output)0" '
        def flops(of): [.blocks[] | select(.label | startswith(of)) | .flops] | add // 0;
        if $name | startswith("matmul") then [{loop: "multiplication", expected: "2 N^3", counted: (flops("multiply") + flops("smaller")), by_hand: (2 * $n * $n * $n)}]
        elif $name == "heat" then [{loop: "step", expected: "9 (N - 2)^3 a step", counted: flops("step"), by_hand: (9 * ($n - 2) * ($n - 2) * ($n - 2) * 10)}]
        elif $name == "cg" then [{loop: "multiply", expected: "2 an entry, 10 steps and 4 checks", counted: flops("multiply"), by_hand: (2 * ($rows / 10) * 14)}]
        else [] end' "$3"
}

# accuracy NAME: an object.
accuracy() {
    local name=$1 size arguments
    size=$(size_value "$name" in_l2)
    mapfile -t arguments < <(arguments_of "$name" in_l2)
    pmodel run -q -o "$name.pmdb" --profile --simulate ./caches.conf -P "N=$size" --unused N -- "./$name" "${arguments[@]}" >/dev/null 2>output
    pmodel show --as profile "$name.pmdb" --format json >"$name.json"
    pmodel loops --groups --format json "./$name" >"$name.loops"
    count_misses 32768,8,64 1048576,16,64 "./$name" "${arguments[@]}" >cachegrind.json
    "./$name" "${arguments[@]}" >output 2>&1
    by_hand "$name" "$size" "$name.json" >by_hand.json
    jq -c -L "$here" --arg name "$name" --argjson size "$size" --slurpfile cachegrind cachegrind.json --slurpfile by_hand by_hand.json \
        --slurpfile loops "$name.loops" 'include "profile"; accuracy($name; $size; $cachegrind[0]; $by_hand[0]; $loops[0])' "$name.json"
}

# least A B: of two numbers; A may be empty.
least() { printf '%s\n' "${1:-$2}" "$2" | sort -g | head -1; }

# cost NAME: an object; the least of some rounds, of which each runs both.
cost() {
    local name=$1 arguments plain='' profiled='' seconds
    mapfile -t arguments < <(arguments_of "$name" beyond_llc)
    for ((round = 0; round < rounds; round++)); do
        seconds=$(cpu_seconds "./$name" "${arguments[@]}")
        plain=$(least "$plain" "$seconds")
        rm -f cost.pmdb
        pmodel run -q -o cost.pmdb --profile --simulate "$machine" -- "./$name" "${arguments[@]}" >/dev/null 2>errors || die "$name: $(tail -1 errors)"
        seconds=$(pmodel show --as profile cost.pmdb --format json | jq .cpu_seconds)
        profiled=$(least "$profiled" "$seconds")
    done
    jq -n -c --arg name "$name" --argjson plain "$plain" --argjson profiled "$profiled" '{name: $name, plain: $plain, profiled: $profiled}'
}

names=$(program_names)
for name in $names; do
    # shellcheck disable=SC2046 # the flags are words
    build_program "$name" "./$name" $(pmodel flags)
    if [ -z "${COSTS-}" ]; then
        say "$name: profile beside cachegrind"
        accuracy "$name" >>accuracy.jsonl
    fi
    say "$name: what the profile costs"
    cost "$name" >>costs.jsonl
done
jq -s -L "$here" 'include "profile"; profile_costs' costs.jsonl >"$BUILD/profile_costs.json"
[ -z "${COSTS-}" ] || exit 0
jq -s -L "$here" 'include "profile"; profile_figures' accuracy.jsonl >"$BUILD/profile_figures.json"
page=$(page_of profile)
jq -s -r -L "$here" --arg cpu "$(cpu_name)" --arg machine "$machine" --slurpfile costs costs.jsonl --slurpfile figures "$BUILD/profile_figures.json" \
    --slurpfile cost_figures "$BUILD/profile_costs.json" 'include "profile"; page($cpu; $machine; $costs; $figures[0] + $cost_figures[0])' accuracy.jsonl | wrap >"$page"
jq -r '.[] | "\(.name) \(.value)"' "$BUILD/profile_figures.json" "$BUILD/profile_costs.json"
say "figures in $BUILD/profile_figures.json and $BUILD/profile_costs.json, tables in $page"
