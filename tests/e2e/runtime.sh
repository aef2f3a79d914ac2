# The runtime library with a program that is instrumented by hand (runtime/by_hand.c): counters,
# memory records, reuse distances, threads, signals, processes and ways out.
. "$TOP/tests/lib.sh"

library=$BUILD/lib/pmodel/libpmodel-rt.so
flags=(-std=gnu11 -O2 -g -Wall -Wextra -Werror -I"$TOP")
check "runtime: the program instrumented by hand compiles" \
    gcc "${flags[@]}" -no-pie -o by_hand "$TOP/tests/e2e/runtime/by_hand.c" \
    -Wl,--no-as-needed "$library" -Wl,-rpath,"$BUILD/lib/pmodel" \
    -Wl,--section-start=.pmprobe=0x20000000 -lm || exit
check "runtime: the dump program compiles" \
    gcc "${flags[@]}" -o dump "$TOP/tests/e2e/runtime/dump_raw.c" \
    "$BUILD/libpm_measure.a" "$BUILD/libpm_core.a" \
    -lxxhash -lzstd -lm || exit

# run PART [VARIABLE=VALUE]...: runs a part of the program with 64-byte blocks; its raw files are in
# out/, their content in `dumped`, its status in `status`.
run() {
    local part=$1
    shift
    rm -rf out && mkdir out
    status=0
    env PMODEL_OUT=out PMODEL_BLOCK=64 "$@" timeout 60 ./by_hand "$part" >output 2>errors ||
        status=$?
    dumped=$(for file in out/*.raw; do ./dump "$file"; done 2>&1)
}

# has NAME LINE...: passes if the dump has each of these lines.
has() {
    local name=$1 line
    shift
    for line in "$@"; do
        grep -qxF -e "$line" <<<"$dumped" && continue
        fail "$name" "no line '$line' in: $dumped"
        return
    done
    pass "$name"
}

# ends NAME STATUS PART...: the last run ended so, and printed just the names of these parts.
ends() {
    local name=$1 expected=$2
    shift 2
    if [ "$status" -eq "$expected" ] && [ ! -s errors ] && printf '%s\n' "$@" | cmp -s - output; then
        pass "$name"
    else
        fail "$name" "status $status, output '$(cat output)', errors '$(cat errors)'"
    fi
}

run plain
ends "runtime: output and status stay" 0 plain
has "runtime: counters, cold accesses and distances" \
    "threads 1 missed 0 flags 0 modules 1" \
    "thread 0 counter 0 1000" \
    "thread 0 block 64 group 0 cold 100 0 blocks 100: 99-99=100+0" \
    "thread 0 block 64 group 14 cold 0 0 blocks 100: 0-0=0+1" \
    "thread 0 block 64 group 15 cold 0 0 blocks 100: 0-0=0+2 1-1=2+0"

run many PMODEL_BLOCK=1,64,4096,2097152
has "runtime: several block sizes over many full buffers" \
    "thread 0 block 1 group 1 cold 8000 0 blocks 8000: 7968-7999=1.592e+06+0" \
    "thread 0 block 64 group 1 cold 1000 0 blocks 1000: 996-999=199000+0" \
    "thread 0 block 4096 group 1 cold 16 0 blocks 16: 0-15=199984+0" \
    "thread 0 block 2097152 group 1 cold 1 0 blocks 1: 0-15=199999+0"

run many PMODEL_BLOCK=64,4096,2097152 PMODEL_APART=4096
has "runtime: short distances of a block size are told apart where asked for" \
    "thread 0 block 4096 group 1 cold 16 0 blocks 16: 0-0=196800+0 15-15=3184+0" \
    "thread 0 block 2097152 group 1 cold 1 0 blocks 1: 0-15=199999+0"

run many PMODEL_BLOCK=3,x
has "runtime: wrong block sizes are noted" \
    "note 2 item(s) of PMODEL_BLOCK are not powers of two from 1 to 2097152 and were left out"

run payloads
has "runtime: string, masked and gather accesses" \
    "thread 0 block 64 group 8 cold 8 0 blocks 16: 0-0=1+0 1-1=1+0 2-2=1+0 3-3=1+0 4-4=1+0 5-5=1+0 6-6=1+0 7-7=1+0" \
    "thread 0 block 64 group 9 cold 1 0 blocks 16:" \
    "thread 0 block 64 group 10 cold 1 0 blocks 16: 0-0=1+0" \
    "thread 0 block 64 group 11 cold 2 0 blocks 16:" \
    "thread 0 block 64 group 12 cold 2 0 blocks 16:" \
    "thread 0 block 64 group 13 cold 2 0 blocks 16:"

run turns
has "runtime: the operands of a string operation take turns, downwards too" \
    "thread 0 block 64 group 16 cold 2 0 blocks 4: 0-0=1+0 2-2=1+0" \
    "thread 0 block 64 group 17 cold 0 2 blocks 4: 1-1=0+1 3-3=0+1"

run state
ends "runtime: the slow path keeps registers, flags, vectors, rounding and errno" 0 state
run state PMODEL_BLOCK=
ends "runtime: and where records are thrown away" 0 state

run threads
ends "runtime: threads" 0 threads
has "runtime: all threads that there were" "threads 6 missed 0 flags 0 modules 1"
sum=$(awk '$3 == "counter" && $4 == 1 { sum += $5 } END { print sum }' <<<"$dumped")
check "runtime: counts of ended threads are kept" test "$sum" = 10005
sum=$(awk '$5 == "group" && $6 == 2 { sum += $8 } END { print sum }' <<<"$dumped")
check "runtime: every thread begins without blocks" test "$sum" = 50

run signals
ends "runtime: handlers nest and may be left by siglongjmp" 0 signals
has "runtime: handlers' counts" "thread 0 counter 2 9" \
    "thread 0 block 64 group 3 cold 1 0 blocks 1: 0-0=8+0"

run traps
ends "runtime: int3 trampolines, and the program's own SIGTRAP" 0 traps
has "runtime: missed jumps are counted" "threads 1 missed 2 flags 0 modules 1"

run fork
has "runtime: a forked child begins at zero" "threads 1 missed 0 flags 1 modules 1" \
    "thread 0 counter 3 1" "thread 0 block 64 group 4 cold 1 0 blocks 1:"
has "runtime: its parent keeps what it has" "threads 1 missed 0 flags 0 modules 1" \
    "thread 0 counter 0 1000"
check "runtime: each of the two has a file" test "$(ls out | wc -l)" = 2

run vfork
check "runtime: a vfork child's _exit writes nothing" test "$(ls out | wc -l)" = 1
has "runtime: and leaves its parent's counters alone" "thread 0 counter 4 2"

run markers
has "runtime: what is between stop and start is not seen" "thread 0 counter 5 2" \
    "thread 0 block 64 group 5 cold 1 0 blocks 1: 0-0=1+0"

run _exit
ends "runtime: _exit keeps its status" 3 _exit
has "runtime: _exit writes" "thread 0 counter 6 1"
run quick_exit
ends "runtime: quick_exit keeps its status" 4 quick_exit
has "runtime: quick_exit writes" "thread 0 counter 6 1"
run exec
ends "runtime: exec goes through" 0 exec plain
has "runtime: exec writes before, and after it too" "threads 1 missed 0 flags 2 modules 1" \
    "thread 0 counter 6 1" "thread 0 counter 0 1000"
check "runtime: a failed exec leaves no file" test "$(ls out | wc -l)" = 2

run plain PMODEL_OUT=
check "runtime: nothing is written where nothing is asked for" test -z "$(ls out)"
ends "runtime: and the program runs" 0 plain
run plain PMODEL_OUT=/nonexistent/folder
ends "runtime: a folder that is not there does not show in the program's output" 0 plain
rm -rf out && mkdir out
(ulimit -f 1 && PMODEL_OUT=out PMODEL_BLOCK=1,2,4,8,16,32,64,128 ./by_hand plain >output)
check "runtime: a file that may not grow does not end the program" test $? = 0
check "runtime: and leaves a text that says why" grep -q "File too large" out/*.error
check "runtime: and nothing else" test "$(ls out | wc -l)" = 1

# An event handler in place of the analysis.
gcc "${flags[@]}" -fPIC -shared -o handler.so "$TOP/tests/e2e/runtime/handler.c"
run plain PMODEL_HANDLER=./handler.so
check "runtime: an event handler gets every access, every counter and the end" \
    grep -qx "begin 18 accesses 202 first address 0x7f0000000000 thread 0 counter 1000 end" errors
run plain PMODEL_HANDLER=./missing.so
check "runtime: an event handler that is not there is named" grep -q "missing.so" errors
has "runtime: and the run goes on without it" "thread 0 counter 0 1000"
