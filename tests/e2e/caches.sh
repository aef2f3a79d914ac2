# The simulator that judges misses under other policies and of several levels (tests/truth/caches.h) agrees with what is not ours: the
# first level with cachegrind, to the last miss; and what it reads of a recorded trace with the histograms of a store.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"
# shellcheck source=tests/truth/machine_of_caches.bash
. "$TOP/tests/truth/machine_of_caches.bash"

truth_tool simulate_caches caches.c && truth_recorder || {
    fail "the tools build"
    exit
}

# ---- cachegrind.  Named differences:
#   the last level       loses places to lines of code there: as many as miss in a first level that has room for all of it
#   crossing accesses    of two lines miss once there
#   the linker           saves registers with one store of more than a line, which is cut there: so it binds all names at the start
export LD_BIND_NOW=1

# simulated NAME D1 LL: misses of both levels.  A cache is SIZE,WAYS.
simulated() {
    machine_of_caches simulated.conf "size = ${2%,*}  ways = ${2#*,}" "size = ${3%,*}  ways = ${3#*,}"
    ./simulate_caches -l "$1.lackey" simulated.conf |
        jq -s -r 'map(.load_misses + .store_misses - .second_misses | tostring) | join(" ")'
}

# by_cachegrind D1 LL COMMAND...: misses of both levels, and those of code in the first.
by_cachegrind() {
    local d1=$1 ll=$2
    shift 2
    valgrind --tool=cachegrind --cache-sim=yes --vex-iropt-level=0 --I1=1048576,16,64 --D1="$d1,64" --LL="$ll,64" \
        --cachegrind-out-file=cachegrind.out "$@" >cachegrind.log 2>&1 &&
        awk '/^events: / { for (i = 2; i <= NF; i++) column[$i] = i }
            /^summary: / { print $column["D1mr"] + $column["D1mw"], $column["DLmr"] + $column["DLmw"], $column["I1mr"] }' \
            cachegrind.out
}

# compare NAME D1 LL COMMAND...
compare() {
    local name=$1 d1=$2 ll=$3 first last cg_first cg_last code
    shift 3
    read -r first last < <(simulated "$name" "$d1" "$ll")
    read -r cg_first cg_last code < <(by_cachegrind "$d1" "$ll" "$@")
    echo "$name, $d1 and $ll: $first and $last; cachegrind $cg_first and $cg_last, code $code"
    check "$name: a first level of $d1 misses as often as cachegrind's" test "$first" = "$cg_first"
    check "$name: a last level of $ll misses as often as cachegrind's, but for code" \
        test "$last" -le "$cg_last" -a "$cg_last" -le $((last + code))
}

while read -r name arguments; do
    cp "$BUILD/apps/$name" .
    # shellcheck disable=SC2086 # several words
    truth_lackey "$name" $arguments >"$name.out" 2>&1
    while read -r d1 ll; do
        # shellcheck disable=SC2086
        compare "$name" "$d1" "$ll" "./$name" $arguments </dev/null
    done <<'CACHES'
32768,8 262144,16
1024,4 8192,8
4096,1 16384,4
CACHES
done <<'APPS'
heat 12 2
cg 6 2
fft 512 1
APPS
read -r first last < <(simulated heat 4096,2 16384,4)
read -r cg_first cg_last code < <(by_cachegrind 4096,1 4096,4 ./heat 12 2)
check "other ways are seen" test "$first" != "$cg_first"
check "another size of the last level is seen" test "$cg_last" -gt $((last + code))

# ---- the store's histograms, of lines and of pages, are those of fully associative caches, in each reference group

fixed_addresses='setarch -R'
$fixed_addresses true 2>/dev/null || fixed_addresses=''
# measure STORE TRACE: TRACE is a file to record, or '-' and as many letters.
measure() {
    $fixed_addresses "$PMODEL" run -q -o "$1" --block 64,4096 --bin-width 0 --env "TRACE_FILE=$2" \
        --env "PMODEL_HANDLER=$TMP/record_trace.so" -P N=16 -P STEPS=2 -- ./heat '{N}' '{STEPS}' >measure.out 2>&1
}
# simulated_groups TRACE: "BLOCK_BYTES BLOCKS GROUP LOADS STORES", the misses of each group.  (TLBs do not know stores.)
simulated_groups() {
    ./simulate_caches -g "$1" small.conf large.conf |
        jq -r 'select(.group) | ({"small L1": "64 32", "large L1": "64 512", "large TLB": "4096 8"}["\(.machine) \(.level)"])
            + " \(.group) \(.load_misses + .store_misses)"' | sort
}
if measure recorded.pmdb trace && measure heat.pmdb -race; then
    machine_of_caches small.conf 'size = 2KiB  ways = 0'
    machine_of_caches large.conf 'size = 32KiB  ways = 0'
    echo 'tlb TLB { entries = 8  page = 4KiB  ways = 0  miss_penalty = 1  exposed = 1 }' >>large.conf
    simulated_groups trace >simulated
    pmodel show --as histograms heat.pmdb | jq -r '.runs[].histograms[] | . as $of | ([64, 32], [64, 512], [4096, 8]) | . as [$bytes, $blocks]
        | $of | select(.block_bytes == $bytes)
        | (.cold_loads + .cold_stores + ([.bins[] | select(.low >= $blocks) | .loads + .stores] | add // 0)) | select(. > 0)
        | "\($bytes) \($blocks) \($of.group.group) \(.)"' | sort >measured
    check "fully associative caches miss as the histograms say" test -s measured -a -z "$(diff simulated measured)"
    ./simulate_caches trace large.conf | jq -c '[.level, .load_misses, .store_misses]' >levels
    ./simulate_caches -g trace large.conf | jq -c 'select(.group)' | jq -s -c 'group_by(.level)[]
        | [.[0].level, (map(.load_misses) | add), (map(.store_misses) | add)]' >sums
    check "misses of groups add up to those of their level" diff levels sums
    head -c -2400 trace >short
    check "a trace without its end is seen" test -n "$(diff <(simulated_groups short) measured)"
else
    fail "heat is recorded and measured" "$(tail -3 measure.out)"
fi

# ---- and it says what it cannot do

machine_of_caches through.conf 'size = 4KiB  ways = 4  write = through' 'size = 16KiB  ways = 4  inclusion = exclusive'
expect_error "a level exclusive of one that writes through is refused" 2 'through.conf: level 2 is exclusive of' \
    ./simulate_caches trace through.conf
: >empty
expect_error "an empty trace is refused" 2 'empty: the trace is empty' ./simulate_caches empty small.conf
