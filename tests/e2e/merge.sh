# `pmodel merge`: runs of one program that were measured into several stores.
. "$TOP/tests/lib.sh"
. "$TOP/tests/launchers.bash"

# By which path `meet` is called first depends on N: numbers of call paths and intervals differ between stores.
cat >paths.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
static double values[1000];
__attribute__((noinline)) void meet(void) { __asm__ volatile(""); }
__attribute__((noinline)) static void add(int n) { for (int i = 0; i < n; i++) values[i] += i; meet(); }
__attribute__((noinline)) static void twice(int n) { for (int i = 0; i < n; i++) values[i] *= 2; meet(); meet(); }
static void *work(void *n) {
    if (*(int *)n % 2) add(*(int *)n), twice(*(int *)n);
    else twice(*(int *)n), add(*(int *)n);
    return NULL;
}
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t thread;
    pthread_create(&thread, NULL, work, &n);
    pthread_join(thread, NULL);
    work(&n);
    printf("%g\n", values[n - 1]);
    return 0;
}
C
gcc -O1 -g -o paths paths.c -lpthread
sed 's/\*= 2/*= 3 * n/' paths.c >other.c
gcc -O1 -g -o other other.c -lpthread
run() { pmodel run -q --block 64,4096 --interval meet --write-backs "$@" >/dev/null; }

# all_rows STORE: of every table of runs each row, with the run's size in place of numbers of the store.
all_rows() {
    local table columns
    for table in $(sqlite3 "$1" "SELECT m.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c
            WHERE c.name = 'run' AND m.type = 'table' ORDER BY 1"); do
        columns=$(sqlite3 "$1" "SELECT group_concat('quote(t.\"' || name || '\")', ', ') FROM pragma_table_info('$table')
            WHERE name <> 'run' AND NOT (name IN ('kind', 'path') AND type = 'INTEGER')")
        echo "$table"
        sqlite3 "$1" "SELECT parameters, $columns FROM $table AS t JOIN run ON run.id = t.run ORDER BY 1"
    done
    sqlite3 "$1" "SELECT parameters, i.process, i.thread, first, n, hex(edges), e.callee, p.return_address
            FROM interval AS i JOIN run ON run.id = i.run JOIN interval_kind AS k ON k.id = i.kind
            JOIN call_path AS e ON e.id = k.end OR (k.end = 0 AND e.id = k.begin) JOIN call_path AS p ON p.id = e.parent
            ORDER BY 1, 2, 3, 4, 5, 6, 7, 8" \
        'SELECT parameters, command, started, wall_seconds, processes, threads, settings, notes FROM run ORDER BY 1'
}

check "one half is measured" run -o odd.pmdb -P N=11,13,15 -- ./paths '{N}'
check "and the other" run -o even.pmdb -P N=10,12,14 -- ./paths '{N}'
mkdir elsewhere
cp paths elsewhere
check "they are joined" pmodel merge -q -o all.pmdb odd.pmdb even.pmdb
check "all sizes are there" test "$(sizes_in all.pmdb)" = "N=10 N=11 N=12 N=13 N=14 N=15"
rows_of_both() { # of each table its rows in both, sorted within
    cat <(all_rows odd.pmdb) <(all_rows even.pmdb) | sort
}
check "with every row of every table" cmp <(rows_of_both | uniq) <(all_rows all.pmdb | sort | uniq)
check "models are made of it" pmodel fit all.pmdb
check "as of each kind of interval" test "$(pmodel report --as intervals -m sapphire-rapids all.pmdb -P N=15 | grep -c meet)" -ge 4
check "it grows by what is there later" pmodel merge -q -o all.pmdb odd.pmdb
check "and is not changed by what it has" test "$(sqlite3 all.pmdb 'SELECT count(*) FROM run')" = 6

# ---- one size twice ----
sleep 1
check "a size is measured again" run -o newer.pmdb -P N=13,17 -- "$PWD/elsewhere/paths" '{N}'
pmodel merge -o joined.pmdb odd.pmdb newer.pmdb 2>said
check "the newer run stays, which is said" grep -q 'newer.pmdb: 2 runs, 1 in place of older ones of the same size' said
started() { sqlite3 "$1" "SELECT started FROM run WHERE parameters = 'N=13'"; }
check "it is the one" test "$(started joined.pmdb)" = "$(started newer.pmdb)"
check "with its counts once" test "$(sqlite3 joined.pmdb 'SELECT count(*) FROM edges')" = 4
pmodel merge -o joined.pmdb odd.pmdb 2>said
check "the older one does not come back" test "$(started joined.pmdb)" = "$(started newer.pmdb)"
check "which is said too" grep -q 'odd.pmdb: 3 runs, 1 left out for newer ones of the same size, 2 there already' said

# ---- what does not fit ----
run -o other.pmdb -P N=10 -- ./other '{N}'
expect_error "another program is refused" 2 'other\.pmdb: .*another build|another program' pmodel merge -o none.pmdb odd.pmdb other.pmdb
run -o set.pmdb --env GREETING=hello -P N=10 -- ./paths '{N}'
expect_error "other settings are named" 2 'set\.pmdb: its run of N=10 was measured with `env GREETING=hello`, those before were not' \
    pmodel merge -o none.pmdb odd.pmdb set.pmdb
run -o more.pmdb -P N=10 -- ./paths '{N}' more
expect_error "and so is another command" 2 'more\.pmdb: its run of N=10 was measured with `command paths .*more`, those before with `command paths' \
    pmodel merge -o none.pmdb odd.pmdb more.pmdb
expect_error "what is no store is refused" 2 'paths\.c: not a pmodel store' pmodel merge -o none.pmdb odd.pmdb paths.c
expect_error "one that is not there too" 2 'no such store' pmodel merge -o none.pmdb missing.pmdb
check "then there is no new store" test ! -e none.pmdb -a ! -e none.pmdb.part
before=$(sha256sum <all.pmdb)
expect_error "nor is one that is there changed" 2 'more\.pmdb' pmodel merge -o all.pmdb even.pmdb more.pmdb
check "by a single byte" test "$before" = "$(sha256sum <all.pmdb)"
check "a run that was truncated stays so" run -o cut.pmdb --keep-partial --exe ./paths -P N=19 -- sh -c './paths {N}; kill -TERM $$'
pmodel merge -q -o marked.pmdb cut.pmdb
check "in the store that it goes into" test "$(sqlite3 marked.pmdb 'SELECT truncated FROM run')" = \
    'was ended by signal 15 (Terminated)'
