# `pmodel run --time`: seconds of loops and routines are those that the program measures itself by
# hand, whatever way control leaves them, and add up to the whole; and what the report says of them.
# time limit: 400 s
. "$TOP/tests/lib.sh"

check "time: the programs compile" bash -c "
    gcc -O2 -g -fno-optimize-sibling-calls -o shares '$TOP/tests/programs/shares.c' &&
    g++ -O2 -g -fopenmp -o threads '$TOP/tests/programs/threads.cc'" || exit

# seconds STORE ROUTINE...: of all loops and code of these routines together.
seconds() {
    local store=$1 names
    shift
    names=$(printf "'%s'," "$@")
    sqlite3 "$store" "
        with recursive under(id, top) as (
            select id, name from scope where kind = 'routine' union all
            select scope.id, top from scope join under on parent = under.id
                where kind != 'routine')
        select coalesce(sum(seconds), 0) from time join under on scope = id
            where top in (${names%,})"
}

entries() {
    sqlite3 "$1" "select coalesce(sum(entries), 0) from time join scope on scope = id
        where kind = 'routine' and name = '$2'"
}

# near NAME A B SHARE: passes if A differs from B by at most this share of B.
near() {
    if awk -v a="$2" -v b="$3" -v share="$4" \
        'BEGIN { d = a - b; exit !(b > 0 && d <= share * b && -d <= share * b) }'; then
        pass "$1"
    else
        fail "$1" "$2 is not $3"
    fi
}

# adds_up NAME STORE: scopes, the rest and the timers' own cost are the CPU time of the process.
adds_up() {
    near "$1" "$(sqlite3 "$2" 'select (select sum(seconds) from time) + outside_seconds + own_seconds
        from timing')" "$(sqlite3 "$2" 'select cpu_seconds from timing')" 0.001
}

# ---- shares ---------------------------------------------------------------------------------------

n=40000000
: >outputs
if pmodel run --time --no-memory -o shares.pmdb -P N=$n -- ./shares '{N}' "$TMP/by_hand" fork \
    >outputs 2>messages; then
    pass "time: a program runs with timers"
else
    fail "time: a program runs with timers" "$(cat messages)"
    exit
fi
check "time: the output comes once" test "$(cat outputs)" = "done"
check "time: it says what the timers cost" \
    grep -qE "N=$n  timed [0-9]+ loops and routines; with timers the program took [0-9.]+ times" messages
adds_up "time: scopes and the rest add up to the CPU time" shares.pmdb

one=$(seconds shares.pmdb one)
near "time: twice the work is twice the time" "$(seconds shares.pmdb two)" \
    "$(awk "BEGIN { print 2 * $one }")" 0.2
near "time: three times the work is three times the time" "$(seconds shares.pmdb three)" \
    "$(awk "BEGIN { print 3 * $one }")" 0.2
near "time: recursion is counted once" "$(seconds shares.pmdb tree)" "$one" 0.3
check "time: each activation of a recursion is an entry" \
    test "$(entries shares.pmdb tree)" = 127.0
near "time: a loop that longjmp leaves ends there" "$(seconds shares.pmdb jumping)" "$one" 0.3
near "time: what comes after a longjmp has its own time" "$(seconds shares.pmdb after_jump)" \
    "$one" 0.3
near "time: a child of fork adds its time" "$(seconds shares.pmdb in_child)" \
    "$(awk "BEGIN { print 2 * $one }")" 0.2
near "time: signals do not make what they interrupt longer" "$(seconds shares.pmdb interrupted)" \
    "$one" 0.3
check "time: a signal handler has its own time" \
    awk "BEGIN { exit !($(seconds shares.pmdb handler) > 0) }"

# By hand: the last run's own figures, beside those of the quickest run.
hand() { awk -v name="$1" '$1 == name { print $2 }' by_hand; }
for part in one two three tree jumping; do
    near "time: $part takes what it takes by hand" "$(seconds shares.pmdb $part)" "$(hand $part)" 0.3
done
near "time: what is too short for a timer is timed at its parent" \
    "$(seconds shares.pmdb calls_short)" "$(hand short)" 0.3
check "time: what is too short has no timer" test "$(entries shares.pmdb short_loop)" = 0

# ---- the report -----------------------------------------------------------------------------------

rm -rf short && mkdir short && cat >short/short.c <<'END'
static volatile double sum;
int main(int argc, char **argv) {
    (void)argv;
    for (int step = 0; step < 20 * argc; step++)
        for (int i = 0; i < 200000; i++)
            for (int j = 0; j < 3 + argc; j++)
                sum += j;
}
END
check "time: a program with a short loop compiles" gcc -O1 -g -o short/run short/short.c
check "time: it is measured with reuse distances and timers" \
    pmodel run -q --time --time-runs 1 --block 32,64,128,32768 -o short.pmdb -P N=1 -- short/run '{N}'
pmodel report -m r12000 --min-percent 0 short.pmdb >table 2>&1
check "time: the report names the loop that holds a short one's time" \
    grep -qE '  in main/2 :[0-9]+  main/3 ' table
check "time: the time that holds another's is marked" grep -qE ' <[0-9.]+ m?s  main/2 ' table
check "time: the report names the processor" grep -qF "MEASURED: seconds of the processor on" table
pmodel report -m r12000 --format json short.pmdb >report.json
near "time: rows of the report add up to what was measured" \
    "$(jq '.predictions[0] | .measured.outside_seconds + ([.rows[].measured_seconds // 0] | add)' report.json)" \
    "$(jq '.predictions[0].measured.seconds' report.json)" 1e-9

pmodel report -m r12000 shares.pmdb >counts_and_times 2>&1
check "time: the report has what --no-memory and --time measured" bash -c "
    grep -qE '^shares .* predicted >' counts_and_times &&
    grep -qE 'TIME +% +MEASURED +LOOP' counts_and_times &&
    grep -qF 'Memory accesses were not recorded' counts_and_times"

# ---- threads, exceptions --------------------------------------------------------------------------

check "time: a program with threads runs with timers" \
    pmodel run -q --time --no-memory -o threads.pmdb -P N=$n -- ./threads '{N}'
adds_up "time: threads' scopes and the rest add up to the CPU time" threads.pmdb
caught=$(seconds threads.pmdb catching)
near "time: four threads take four times as long" "$(seconds threads.pmdb thread_work)" \
    "$(awk "BEGIN { print 4 * $caught }")" 0.3
check "time: four threads entered the routine" test "$(sqlite3 threads.pmdb \
    "select threads from time join scope on scope = id where name = 'thread_work'")" = 4
near "time: both threads of a parallel region count" "$(sqlite3 threads.pmdb "
    select sum(seconds) from time where threads = 2")" "$(awk "BEGIN { print 2 * $caught }")" 0.3
near "time: a loop that an exception leaves ends there" "$(seconds threads.pmdb throwing)" \
    "$caught" 0.3
check "time: a routine that an exception goes through takes nothing" \
    awk "BEGIN { exit !($(seconds threads.pmdb passing) < 0.1 * $caught) }"

# ---- all scopes timed -----------------------------------------------------------------------------

# Timers everywhere, whatever they cost: the program does what it did, and each scope is entered as often
# as the counted edges of the same run say.
check "time: the driver is built" build_instrument_tool || exit
all_timed() {
    local title=$1 program=$2 expected=0 actual=0
    shift 2
    rm -rf raw instrumented && mkdir raw
    check "time: $title gets timers everywhere" ./instrument_tool -e \
        -r "$BUILD/lib/pmodel/libpmodel-rt.so" "$program" ./instrumented || return
    timeout 60 "$program" "$@" >plain.out 2>/dev/null </dev/null || expected=$?
    PMODEL_OUT=$TMP/raw PMODEL_TIME=1 timeout 120 ./instrumented "$@" >timed.out 2>timed.err </dev/null ||
        actual=$?
    check "time: $title behaves as before with timers everywhere" \
        bash -c "[ $actual -eq $expected ] && cmp plain.out timed.out"
    ./instrument_tool -l "$program" raw/*.raw 2>/dev/null >by_edges
    ./instrument_tool -t "$program" raw/*.raw 2>/dev/null >by_timers
    check "time: $title enters its scopes as often as edges are taken" \
        bash -c "[ -s by_edges ] && diff by_edges by_timers"
}
for name in calls switches accesses gone; do
    gcc -g -O2 -march=x86-64-v3 -fopenmp -o "$name" "$TOP/tests/rewrite/$name.c"
    all_timed "$name" "./$name"
done
g++ -g -O2 -pthread -o exceptions "$TOP/tests/rewrite/exceptions.cc"
all_timed exceptions ./exceptions
seq 1 20000 >numbers
all_timed gzip /bin/gzip -c numbers

# ---- clocks ---------------------------------------------------------------------------------------

check "time: without rseq the elapsed time is taken, and said to be" bash -c "
    pmodel run --time --no-memory --env GLIBC_TUNABLES=glibc.pthread.rseq=0 -o elapsed.pmdb \
        -P N=$n -- ./threads '{N}' 2>&1 | grep -qF 'Measured times hold what other programs ran'"

# ---- runs that are there, input, mistakes ---------------------------------------------------------

cat >words.c <<'END'
#include <stdio.h>
int main(void) {
    int c, n = 0;
    while ((c = getchar()) != EOF)
        n += c == 'a';
    printf("%d\n", n);
    return n != 3;
}
END
gcc -O1 -g -o words words.c
echo "a banana" | sed 's/^a /x /' >input
check "time: each run reads a file on standard input from its start" \
    bash -c "pmodel run --time --no-memory -o words.pmdb -P N=1 -- ./words <input"
check "time: a run with times is not repeated" \
    bash -c "pmodel run --time --no-memory -o words.pmdb -P N=1 -- ./words <input 2>&1 |
        grep -qF '0 measured, 1 were there already'"
check "time: times can be added to a run that is there" bash -c "
    pmodel run -q --no-memory -o later.pmdb -P N=1 -- ./words <input >/dev/null &&
    pmodel run -q --time --no-memory -o later.pmdb -P N=1 -- ./words <input >counted &&
    test ! -s counted &&
    test \"\$(sqlite3 later.pmdb 'select count(*) from timing')\" = 1"
check "time: a run that is repeated without --time has no times" bash -c "
    pmodel run -q --again --no-memory -o later.pmdb -P N=1 -- ./words <input &&
    test \"\$(sqlite3 later.pmdb 'select count(*) from timing')\" = 0"
cat >caller.c <<'END'
#include <math.h>
#include <stdio.h>
int main(int argc, char **argv) {
    double sum = 0;
    for (int i = 0; i < 3000000; i++)
        sum += sin(i * argc);
    return printf("%s %g\n", argv[0], sum) < 0;
}
END
gcc -O2 -g -o caller caller.c -lm
check "time: a loop that calls the mathematical library all the time is timed" bash -c "
    pmodel run -q --time --time-runs 1 --no-memory -o caller.pmdb -P N=1 -- ./caller >/dev/null &&
    test \$(sqlite3 caller.pmdb \"select entries from time join scope on scope = id
        where kind = 'loop'\") = 1.0"
cat >leaf.c <<'END'
__attribute__((noipa)) static unsigned long leaf(unsigned long x) { return x * x * x + 1; }
int main(void) {
    unsigned long sum = 0;
    for (int i = 0; i < 40000000; i++)
        sum = leaf(sum);
    return sum == 1;
}
END
gcc -O2 -g -o leaf leaf.c
check "time: what does nothing but call tiny routines has no timer, which is said" bash -c "
    pmodel run --time --time-runs 1 --no-memory -o leaf.pmdb -P N=1 -- ./leaf 2>&1 |
        grep -qE 'Routines with [0-9]+% of the executed instructions have no timer'"
pmodel run -q --again --time-cost 100 --no-memory -o leaf.pmdb -P N=1 -- ./leaf
check "time: --time-cost allows for it" test "$(entries leaf.pmdb main)" = 1.0
expect_error "time: --start-at is not for timers" 2 "time and --start-at exclude each other" \
    pmodel run --time --start-at main -o x.pmdb -P N=1 -- ./words
expect_error "time: --time-cost takes a percentage" 2 "time-cost" \
    pmodel run --time-cost much -o x.pmdb -P N=1 -- ./words
expect_error "time: --time-runs takes a number" 2 "time-runs" \
    pmodel run --time-runs none -o x.pmdb -P N=1 -- ./words

# ---- how much of a core there was ----
pmodel run -q --time --time-runs 1 --quiet-core auto --block 32,128,32768 -o core.pmdb -P N=1 -- short/run '{N}'
pmodel report core.pmdb -m r12000 --format json >core.json
check "time: the share of a core that runs had is known, and no more than one" \
    jq -e '.predictions[0].measured.core_share | . > 0 and . <= 1' core.json
expect_error "time: a core is a number" 2 '--quiet-core takes auto or the number of a CPU, not "fast"' \
    pmodel run --quiet-core fast -o core.pmdb -P N=1 -- short/run '{N}'
expect_error "time: a core that there is not is said" 2 '--quiet-core: runs cannot be bound to that CPU here' \
    pmodel run --quiet-core 1023 -o none.pmdb -P N=1 -- short/run '{N}'
