# Executions of every basic block and jumps along every edge equal what callgrind counts, instruction
# by instruction, on the example applications; and flow is conserved in every routine.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

truth_tool block_counts || {
    fail "the tool that reads stores builds"
    exit
}

# compare PROGRAM BLOCKS
compare() {
    awk -v object="$TMP/$1" -f "$TOP/tests/truth/compare_counts.awk" "$1.dis" "$2" "$1.callgrind"
}

# check_program PROGRAM SIZE: what callgrind saw against a run with memory records and one without.
check_program() {
    local program=$1 size=$2
    # Without --skip-plt=no, callgrind books the linkage table's instructions on the calls.
    valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --compress-pos=no \
        --compress-strings=no --skip-plt=no --callgrind-out-file="$program.callgrind" \
        "./$program" "$size" >"$program.out" 2>&1 || {
        fail "callgrind runs $program" "$(tail -3 "$program.out")"
        return
    }
    objdump -d --no-show-raw-insn "$program" >"$program.dis"
    local way options
    for way in counters records; do
        options=--no-memory
        [ "$way" = records ] && options='--block 64'
        # shellcheck disable=SC2086 # an option and its value
        pmodel run -q -o "$program.$way.pmdb" $options -P "N=$size" -- "./$program" '{N}' >/dev/null || {
            fail "$program is measured with $way"
            continue
        }
        check "flow is conserved in $program ($way)" \
            sh -c "./block_counts $program.$way.pmdb N=$size >$program.$way"
        if compare "$program" "$program.$way" >difference; then
            pass "counts of $program equal callgrind's ($way)"
            cat difference
        else
            fail "counts of $program equal callgrind's ($way)" "$(cat difference)"
        fi
    done
}

for app in heat adi cg; do
    if truth_app "$app"; then
        check_program "$app" 8
    else
        fail "$app builds"
    fi
done

# Without the plugin, and as a compiler leaves it without optimisation.
check "cg builds without the plugin" \
    gcc -O1 -march=x86-64-v3 -o plain "$TOP/bench/apps/cg/cg.c" -lm && check_program plain 6
check "heat builds without the plugin" \
    gcc -O0 -no-pie -o unoptimised "$TOP/bench/apps/heat/heat.c" -lm && check_program unoptimised 6

# Jump tables without names of routines, but for those of the start files.
start_files='-K deregister_tm_clones -K register_tm_clones -K __do_global_dtors_aux -K frame_dummy'
check "a program with jump tables builds" \
    gcc -O2 -o switches "$TOP/tests/truth/switches.c" &&
    # shellcheck disable=SC2086 # several options
    check "its symbols can be removed" strip $start_files switches && check_program switches 500

# The comparison itself: one execution too many is seen, in a basic block and on an edge.
for kind in block edge; do
    awk -v kind=$kind '$1 == kind && $4 > 0 && !done { $4++; done = 1 } { print }' heat.counters >wrong
    if compare heat wrong >difference; then
        fail "a wrong count of one $kind is seen" "$(cat difference)"
    else
        pass "a wrong count of one $kind is seen"
    fi
done
