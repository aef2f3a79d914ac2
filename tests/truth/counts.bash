# Counts of basic blocks and edges beside callgrind's, instruction by instruction:
# `. "$TOP/tests/truth/counts.bash"` after lib.sh and tools.sh, with the tool block_counts built.
# shellcheck shell=bash

# compare_counts NAME PROGRAM BLOCKS
compare_counts() {
    awk -v object="$2" -v frames="$1.frames" -f "$TOP/tests/truth/compare_counts.awk" "$1.dis" "$3" "$1.callgrind"
}

# check_counts NAME WAYS PROGRAM ARGUMENT...: what callgrind saw against a run with edge counters and one
# with memory records (WAYS: counters, records or both). What is compared is the program, or with
# library=PATH this library of it.
check_counts() {
    local name=$1 ways=$2 library=${library-} program way options
    shift 2
    program=$(realpath -e "${library:-$1}")
    # Without --skip-plt=no, callgrind books the linkage table's instructions on the calls.
    valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --compress-pos=no \
        --compress-strings=no --skip-plt=no --callgrind-out-file="$name.callgrind" "$@" >"$name.out" 2>&1 || {
        fail "callgrind runs $name" "$(tail -3 "$name.out")"
        return
    }
    objdump -d --no-show-raw-insn "$program" >"$name.dis"
    readelf --debug-dump=frames "$program" >"$name.frames" 2>/dev/null
    for way in $ways; do
        options=--no-memory
        [ "$way" = records ] && options='--block 64'
        [ -n "$library" ] && options+=" --lib $library"
        rm -f "$name.$way.pmdb"
        # shellcheck disable=SC2086 # an option and its value
        pmodel run -q -o "$name.$way.pmdb" $options -P N=1 -- "$@" >/dev/null || {
            fail "$name is measured with $way"
            continue
        }
        check "flow is conserved in $name ($way)" \
            sh -c "./block_counts $name.$way.pmdb N=1 $(basename "$library") >$name.$way"
        if compare_counts "$name" "$program" "$name.$way" >difference; then
            pass "counts of $name equal callgrind's ($way)"
            cat difference
        else
            fail "counts of $name equal callgrind's ($way)" "$(cat difference)"
        fi
    done
}
