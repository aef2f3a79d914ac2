# Executions of every basic block and jumps along every edge equal what callgrind counts, instruction
# by instruction, on the example applications; and flow is conserved in every routine.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"
. "$TOP/tests/truth/counts.bash"

truth_tool block_counts || {
    fail "the tool that reads stores builds"
    exit
}

# check_app NAME WAYS ARGUMENT...
check_app() {
    local app=$1 ways=$2
    shift 2
    if truth_app "$app"; then
        check_counts "$app${2:+_$2}" "$ways" "./$app" "$@"
    else
        fail "$app builds"
    fi
}

for app in heat adi cg; do
    check_app $app "counters records" 8
done
check_app ssor counters 6
check_app sweep counters 6
check_app multigrid counters 4
check_app fft counters 64
for order in ijk ikj blocked; do
    check_app matmul counters 32 $order
done

# Without the plugin, and as a compiler leaves it without optimisation.
check "cg builds without the plugin" \
    gcc -O1 -march=x86-64-v3 -o plain "$TOP/bench/apps/cg/cg.c" -lm &&
    check_counts plain "counters records" ./plain 6
check "heat builds without the plugin" \
    gcc -O0 -no-pie -o unoptimised "$TOP/bench/apps/heat/heat.c" -lm &&
    check_counts unoptimised "counters records" ./unoptimised 6

# Jump tables without names of routines, but for those of the start files.
start_files='-K deregister_tm_clones -K register_tm_clones -K __do_global_dtors_aux -K frame_dummy'
check "a program with jump tables builds" gcc -O2 -o switches "$TOP/tests/truth/switches.c"
# shellcheck disable=SC2086 # several options
check "its symbols can be removed" strip $start_files switches &&
    check_counts switches "counters records" ./switches 500

# A program of the system, without symbols.
awk 'BEGIN { for (i = 0; i < 9000; i++) print i * i, "and", i % 7 }' >text
check_counts gzip counters /usr/bin/gzip -c text

# The comparison itself: one execution too many is seen, in a basic block and on an edge.
for kind in block edge; do
    awk -v kind=$kind '$1 == kind && $4 > 0 && !done { $4++; done = 1 } { print }' heat.counters >wrong
    if compare_counts heat "$TMP/heat" wrong >difference; then
        fail "a wrong count of one $kind is seen" "$(cat difference)"
    else
        pass "a wrong count of one $kind is seen"
    fi
done
