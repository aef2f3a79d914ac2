# Misses of fully associative LRU caches, computed from the histograms of whole programs, equal, to the
# last access, those of a simulation over what valgrind's lackey saw; and so are write-backs (--write-backs).
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

truth_tool lru_lackey caches.c && truth_recorder || {
    fail "the tools build"
    exit
}
capacities='4 8 16 32 100 512 1000 4096'

# No random addresses, and an environment of the same length for both runs of pmodel. Where the system
# does not let programs ask for that, the stack lies at a random multiple of 16 bytes.
fixed_addresses='setarch -R' block=64
$fixed_addresses true 2>/dev/null || fixed_addresses='' block=16

# measure PROGRAM STORE TRACE OPTION...: TRACE is a file to record, or '-' and as many letters.  Environments are as long with
# --write-backs as with what `without` has.
without='--env PMODEL_write_backs=1'
measure() {
    $fixed_addresses "$PMODEL" run -q --no-libm -o "$2" --block "$block" --bin-width 0 \
        --env "TRACE_FILE=$3" --env "PMODEL_HANDLER=$TMP/record_trace.so" \
        -P "N=$n" -P "STEPS=$steps" "${@:4}" -- "./$1" '{N}' '{STEPS}' >"$1.out" 2>"$1.err"
}

# places END: of the trace the first address of the stack, which is main's, the highest one, and the first of what is
# allocated from END on.
places() {
    od -An -v -t u8 -w24 trace | awk -v end=$((16#$1)) '
        $1 > 2^32 && !stack { stack = $1 }
        $1 > top { top = $1 }
        $1 >= end && $1 < 2^32 && !heap { heap = $1 }
        END { printf "%.0f %.0f %.0f\n", stack, top, heap }'
}

# simulated PROGRAM: its misses by lackey, with as much in the environment as puts the stack at the same place of a block.
simulated() {
    local status=4 length
    for ((length = 0; status == 4 && length < 64; length += 16)); do
        PADDING=$(printf "%${length}s") valgrind --tool=lackey --trace-mem=yes --vex-iropt-level=0 \
            --log-file=lackey.log "./$1" "$n" "$steps" >lackey.out 2>&1
        # shellcheck disable=SC2086 # several words
        ./lru_lackey "$1.pmdb" lackey.log "$block" $measured "$end" $capacities >"$1.simulated" 2>"$1.left_out"
        status=$?
    done
    return "$status"
}

# from_histograms PROGRAM [LAST]: "CAPACITY LOADS STORES" from the exported histograms.
from_histograms() {
    pmodel show --as histograms "$1.pmdb" |
        jq -r --arg capacities "$capacities" '
            .runs[].histograms as $all | $capacities | split(" ") | map(tonumber)[] as $c |
            [$all[] | [.bins[] | select(.low >= $c)] as $far |
                [.cold_loads + ([$far[].loads] | add // 0), .cold_stores + ([$far[].stores] | add // 0)]] |
            "\($c) \([.[][0]] | add) \([.[][1]] | add)"'
}

# write_backs STORE: "CAPACITY WRITE_BACKS" as `pmodel query` answers.
write_backs() {
    pmodel query "$1" -P "N=$n" -P "STEPS=$steps" --block "$block" --format json \
        --cache "$(printf '%sblocks,' $capacities | sed 's/,$//')" |
        jq -r '.answers[] | "\(.cache.blocks) \(.write_backs)"'
}

while read -r program n steps; do
    if ! truth_app "$program" -no-pie || ! measure "$program" recorded.pmdb trace $without || [ ! -s trace ]; then
        fail "$program is built and recorded" "$(tail -3 "$program.err")"
        continue
    fi
    end=$(nm "$program" | awk '$3 == "_end" { print $1 }') measured=$(places "$end")
    rm -f recorded.pmdb
    if ! measure "$program" "$program.pmdb" -race $without ||
        ! measure "$program" "$program.dirty.pmdb" -race --write-backs; then
        fail "$program is measured" "$(tail -3 "$program.err")"
        continue
    fi
    from_histograms "$program" >"$program.misses"
    check "lackey's trace of $program is simulated" simulated "$program"
    check "misses of $program equal those of a simulation" diff "$program.misses" <(cut -d' ' -f1-3 "$program.simulated")
    write_backs "$program.dirty.pmdb" >"$program.write_backs"
    check "write-backs of $program equal those of a simulation" \
        diff "$program.write_backs" <(cut -d' ' -f1,4 "$program.simulated")
    cat "$program.simulated" "$program.left_out"
done <<'APPS'
heat 16 4
adi 8 1
fft 1024 2
APPS

# The comparison itself: misses of another number of steps are not the same.
n=16 steps=3 program=heat
measure heat other.pmdb -race $without && mv other.pmdb heat.pmdb && from_histograms heat >other.misses
check "a step less is seen" test "$(cmp -s other.misses <(cut -d' ' -f1-3 heat.simulated); echo $?)" = 1
