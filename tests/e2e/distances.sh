# Reuse distances of real programs equal those of a stack that is searched from its top; and every
# memory reference is recorded exactly as often as the counters say that it was executed.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

truth_tool check_analyser touches.c && truth_tool check_profile touches.c &&
    truth_tool check_references touches.c && truth_recorder || {
    fail "the tools build"
    exit
}

# The same layout of memory for a recorded and an analysed run: no random addresses, the same
# libraries, an environment of the same length. Where the system does not let programs ask for that,
# the stack's place differs by multiples of 16 bytes, and only blocks of 8 bytes can be compared.
fixed_addresses='setarch -R' blocks='8 64 4096'
$fixed_addresses true 2>/dev/null || fixed_addresses='' blocks=8

# measure PROGRAM STORE TRACE OPTIONS...: TRACE is a file to record, or '-' and as many letters: the
# handler declines.
measure() {
    local program=$1 store=$2 trace=$3
    shift 3
    $fixed_addresses "$PMODEL" run -q -o "$store" --block 8,64,4096,2097152 \
        --env "TRACE_FILE=$trace" --env "PMODEL_HANDLER=$TMP/record_trace.so" "$@" \
        -- "./$program" '{N}' '{STEPS}' >"$program.out" 2>"$program.err"
}

# check_program PROGRAM N STEPS
check_program() {
    local program=$1 size="N=$2,STEPS=$3"
    set -- -P "N=$2" -P "STEPS=$3"
    if ! measure "$program" "$program.recorded.pmdb" trace "$@" || [ ! -s trace ]; then
        fail "the accesses of $program are recorded" "$(tail -3 "$program.err")"
        return
    fi
    mv trace "$program.trace"
    if ! measure "$program" "$program.pmdb" -race "$@"; then
        fail "$program is measured" "$(tail -3 "$program.err")"
        return
    fi
    show "distances of $program by the analyser equal a stack's" \
        ./check_analyser "$program.trace" 1 8 64 4096
    # shellcheck disable=SC2086 # several sizes
    show "distances of $program in the store equal a stack's" \
        ./check_profile "$program.pmdb" "$size" "$program.trace" $blocks
    show "references of $program are recorded as often as they are executed" \
        ./check_references "$program.recorded.pmdb" "$size" -t "$program.trace"
    show "groups of $program have as many accesses as their references" \
        ./check_references "$program.pmdb" "$size" 2097152
}

while read -r app n steps; do
    if truth_app "$app"; then
        check_program "$app" "$n" "$steps"
    else
        fail "$app builds"
    fi
done <<'APPS'
heat 8 4
adi 4 1
cg 5 4
APPS

# Instructions with any number of accesses: string instructions, masked accesses, gathers.
if gcc -O2 -march=x86-64-v3 -o touch_memory "$TOP/tests/truth/touch_memory.c"; then
    check_program touch_memory 200 1
else
    fail "the program that touches memory builds"
fi

# The comparisons themselves: an access that is missing or moved to other places is seen.
head -c -24 heat.trace >short.trace
{ tail -c +2401 heat.trace && head -c 2400 heat.trace; } >turned.trace
expect_error "a missing access is seen in the distances" 3 'group' \
    ./check_profile heat.pmdb N=8,STEPS=4 short.trace 8
expect_error "a missing access is seen in a reference" 3 'reference' \
    ./check_references heat.recorded.pmdb N=8,STEPS=4 -t short.trace
expect_error "another order is seen in the distances" 3 'group' \
    ./check_profile heat.pmdb N=8,STEPS=4 turned.trace 8
