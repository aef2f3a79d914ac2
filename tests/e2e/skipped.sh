# What a run leaves out of its analysis, by markers or lists of routines, is counted: what was analysed
# and what was not are together what the whole run analyses.
. "$TOP/tests/lib.sh"

cat >parts.c <<'EOF_PARTS'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <pmodel.h>
static volatile long table[4096], other[4096];
__attribute__((noinline)) static long part(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += table[i];
    return sum;
}
/* 1 load and 2 stores an iteration. */
__attribute__((noinline)) static void fill(long n) {
    for (long i = 0; i < n; i++) {
        other[i] = table[i];
        other[i + 1] = i;
    }
}
static char text[64] __attribute__((aligned(64))), copy[64] __attribute__((aligned(64)));
__attribute__((noinline)) static void step(long n) {
    part(n / 2);
    memcpy(copy, text, (size_t)n / 30); /* one piece of each */
    fill(n);
}
static void *thread(void *n) {
    for (int i = 0; i < 3; i++)
        step((long)n);
    return NULL;
}
int main(int argc, char **argv) {
    long n = atol(argv[2]), sum = 0;
    pthread_t id;
    for (int i = 0; i < 10; i++) {
        sum += part(n);
        if (*argv[1] == 'm')
            pmodel_stop();
        fill(n);
        if (*argv[1] == 'm')
            pmodel_start();
        step(n);
    }
    if (*argv[1] == 'a') {
        pthread_create(&id, NULL, thread, (void *)n);
        pthread_join(id, NULL);
    }
    printf("%ld %ld\n", sum, other[1]);
    return argc == 0;
}
EOF_PARTS
gcc -O1 -g -pthread -I"$BUILD/include" -o parts parts.c

# measure STORE WAY OPTION...: sizes 500 and 1500, in blocks so large that no access crosses one.
measure() {
    local store=$1 way=$2
    shift 2
    "$PMODEL" run -o "$store" --block 2097152 "$@" -P N=500,1500 -- ./parts "$way" '{N}' \
        >"$store.out" 2>"$store.err" || fail "$store is measured" "$(tail -2 "$store.err")"
}
# accesses STORE N: those in histograms. skipped STORE N REASON: "executions loads stores".
accesses() {
    sqlite3 "$1" "SELECT CAST(sum(accesses) AS INTEGER) FROM histogram h JOIN run r ON r.id = h.run
                  WHERE r.parameters = 'N=$2'"
}
skipped() {
    sqlite3 -separator ' ' "$1" "SELECT CAST(executions AS INTEGER), CAST(loads AS INTEGER),
        CAST(stores AS INTEGER) FROM skipped s JOIN run r ON r.id = s.run
        WHERE r.parameters = 'N=$2' AND reason = '$3'"
}
# complete TITLE STORE REASON WHOLE: analysed and skipped are what WHOLE analysed.
complete() {
    local n executions loads stores
    for n in 500 1500; do
        read -r executions loads stores <<<"$(skipped "$2" $n "$3")"
        check "$1: nothing is lost or counted twice (N=$n)" \
            test $(($(accesses "$2" $n) + loads + stores)) = "$(accesses "$4" $n)" -a "$executions" -gt 0
    done
}
# grows TITLE STORE REASON LOADS STORES: by so many for each of the 1000 more elements.
grows() {
    local l1 s1 l2 s2
    read -r _ l1 s1 <<<"$(skipped "$2" 500 "$3")"
    read -r _ l2 s2 <<<"$(skipped "$2" 1500 "$3")"
    check "$1: loads and stores are those of the source" \
        test "$((l2 - l1)) $((s2 - s1))" = "$((1000 * $4)) $((1000 * $5))"
}

measure whole.pmdb all
check "a whole run skips nothing" test -z "$(skipped whole.pmdb 500 stopped)$(skipped whole.pmdb 500 'left out')"

measure lists.pmdb all --exclude <(echo fill)
complete "--exclude" lists.pmdb "left out" whole.pmdb
grows "--exclude" lists.pmdb "left out" 23 46
check "--exclude: so are executions" test "$(skipped lists.pmdb 500 'left out' | cut -d' ' -f1)" = 23
check "--exclude: run says so" grep -q 'not analysed because their routines are left out, which were entered 23 times' \
    lists.pmdb.err
check "--exclude: what is left out is shown as not counted" \
    test "$(sqlite3 lists.pmdb "SELECT count(*) FROM scope WHERE kind = 'routine' AND name = 'fill'")" = 1

printf 'part\nstep\nmain\nthread\n' >names
measure include.pmdb all --include names
measure others.pmdb all --exclude <(printf '*\n')
complete "--include" include.pmdb "left out" whole.pmdb
complete "--exclude of all" others.pmdb "left out" whole.pmdb

measure touched.pmdb all --exclude <(echo '!fill')
check "a routine that must stay as it is has no counts" test -z "$(skipped touched.pmdb 500 'left out')"
check "and is not recorded" test "$(accesses touched.pmdb 500)" = "$(accesses lists.pmdb 500)"

measure marked.pmdb m
measure unmarked.pmdb n
# The calls of the markers are the program's own, so the other way is not the same to the access.
all_of() {
    local loads stores
    read -r _ loads stores <<<"$(skipped marked.pmdb "$1" stopped)"
    echo $(($(accesses marked.pmdb "$1") + loads + stores - $(accesses unmarked.pmdb "$1")))
}
check "pmodel_stop: nothing is lost or counted twice, whatever the size" \
    test "$(all_of 500)" = "$(all_of 1500)" -a "$(all_of 500)" -ge 0 -a "$(all_of 500)" -le 100
grows "pmodel_stop" marked.pmdb stopped 10 20
check "pmodel_stop: executions are stops" test "$(skipped marked.pmdb 500 stopped | cut -d' ' -f1)" = 10

measure routine.pmdb all --start-at step --stop-after step
complete "--start-at, --stop-after" routine.pmdb stopped whole.pmdb
# Not with threads: what one does while another switches is a matter of chance.
measure within.pmdb n --start-at step --stop-after step
measure beside.pmdb n --start-at step --stop-after step --second-core
for n in 500 1500; do
    check "the same with the analysis beside the program (N=$n)" \
        test "$(skipped within.pmdb $n stopped)" = "$(skipped beside.pmdb $n stopped)"
done
"$PMODEL" run -q -o counts.pmdb --no-memory -P N=500 -- ./parts m '{N}' >/dev/null
check "without an analysis nothing is said" test -z "$(skipped counts.pmdb 500 stopped)"

"$PMODEL" run -q -o report.pmdb -m r12000 -P N=700 -- ./parts m '{N}' >/dev/null 2>&1
check "report says it" sh -c '"$0" report report.pmdb -m r12000 -P N=700 |
    tr -s " \n" " " | grep -q "In the run [0-9]* loads and [0-9]* stores were not analysed because measuring was off"' "$PMODEL"
