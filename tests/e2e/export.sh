# `pmodel show`: histograms of a program whose threads touch known blocks at known distances, as
# JSON and CSV; each thread by itself and their sum; and what is refused.
. "$TOP/tests/lib.sh"

cat >walks.c <<'END'
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
/* Thread T touches 100 T blocks one after the other, five times. */
enum { BLOCK = 64, MOST = 300, PASSES = 5 };
static volatile char data[3][MOST * BLOCK] __attribute__((aligned(4096)));
static int longer;
static pthread_barrier_t all; /* so that no thread takes the place of another that has ended */
__attribute__((noipa)) static void walk(volatile char *at, long n_blocks) {
    for (int pass = 0; pass < PASSES; pass++)
        for (long i = 0; i < n_blocks; i++)
            at[i * BLOCK] = 1;
}
static void *work(void *number) {
    intptr_t t = (intptr_t)number;
    pthread_barrier_wait(&all);
    walk(data[t], 100 * (t + 1) + longer);
    pthread_barrier_wait(&all);
    return NULL;
}
int main(int argc, char **argv) {
    pthread_t threads[2];
    longer = argc > 1 ? atoi(argv[1]) : 0;
    pthread_barrier_init(&all, NULL, 3);
    for (intptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    work((void *)0);
    return pthread_join(threads[0], NULL) || pthread_join(threads[1], NULL);
}
END
check "export: the program compiles and runs" bash -c '
    gcc -O2 -g -fno-tree-vectorize -fno-unroll-loops -pthread -o walks walks.c &&
    pmodel run -q -o walks.pmdb --block 64,4096 -P N=0,7 -- ./walks {N}' || exit

export_walk() {
    pmodel show --as histograms walks.pmdb --routine walk "$@"
}

# lines JQ_FILTER ARGUMENT...: of histograms of the walk's stores.
lines() {
    local filter=$1
    shift
    export_walk "$@" >lines.json && jq -r ".runs[].histograms[] | select(.group.stores == 1 and
        (.group.pushed or .group.stack | not)) | $filter" lines.json
}

is() {
    [ "$2" = "$3" ] && pass "$1" || fail "$1" "\"$2\" is not \"$3\""
}

totals='[.block_bytes, .stream, .thread, .cold_stores, ([.bins[].stores] | add)] | @csv'
is "each thread has its own blocks and reuses" \
    "$(lines "$totals" -P N=0 --block 64 --threads | tr '\n' ' ')" \
    '64,"thread",0,100,400 64,"thread",1,200,800 64,"thread",2,300,1200 '
is "their sum has them all" "$(lines "$totals" -P N=0 | tr '\n' ' ')" \
    '64,"sum",,600,2400 4096,"sum",,12,2988 '
check "a reuse is as far as the thread's walk is long" bash -c '
    pmodel show --as histograms walks.pmdb --routine walk -P N=7 --block 64 --threads |
        jq -e "[.runs[].histograms[] | select(.cold_stores >= 100) |
            ((.thread + 1) * 100 + 7) as \$n |
            (.bins | map(.mean >= \$n - 1 and .mean <= \$n + 9) | all)] |
            length == 3 and all"'
is "all runs are written" "$(export_walk | jq -c '[.runs[].parameters.N]')" '[0,7]'
is "the program, the place and the group are named" "$(lines \
    '[.module, .routine, .scope.kind, (.scope.file | split("/") | last), .scope.line_first,
      .group.strides_innermost_first[0].bytes] | @csv' -P N=7 --block 64)" \
    "\"walks\",\"walk\",\"loop\",\"walks.c\",$(awk '/for \(long i/ { print NR }' walks.c),64"

# The same facts in both formats; every line has as many fields as the header.
export_walk --threads >all.json
export_walk --threads --format csv -o all.csv
check "CSV has a line for each cold part and bin, with the same counts" bash -c '
    jq -r "[.runs[].histograms[] | .cold_loads, .cold_stores, (.bins[] | .loads, .stores)] |
        [length / 2, add] | @tsv" all.json >json.sums
    sqlite3 -cmd ".mode csv" -cmd ".import all.csv lines" -cmd ".mode tabs" :memory: \
        "select count(*), sum(loads + stores) from lines" >csv.sums
    cat json.sums csv.sums && cmp json.sums csv.sums && [ "$(cut -f1 json.sums)" -gt 6 ]'
check "one group can be asked for by its number" bash -c '
    group=$(jq ".runs[0].histograms[0].group.group" all.json)
    [ "$(pmodel show --as histograms walks.pmdb --group "$group" |
        jq -c "[.runs[].histograms[].group.group] | unique")" = "[$group]" ]'

expect_error "a size that was not measured is named" 2 'no run of this size' export_walk -P N=5
expect_error "a parameter that there is not" 2 'no parameter "M"' export_walk -P M=5
expect_error "a block size that was not measured" 2 'not measured with all these block sizes' \
    export_walk --block 64,128
expect_error "a block size that cannot be" 2 'powers of two' export_walk --block 96
expect_error "a group that there is not" 2 'no group' export_walk --group 4000000
expect_error "an object that there is not" 2 'no group' export_walk --group no_such_thing
expect_error "a routine that there is not" 2 'no routine' \
    pmodel show --as histograms walks.pmdb --routine no_such_thing
expect_error "no shared stream where none was measured" 2 'run --shared' export_walk --shared
expect_error "threads and shared" 2 'exclude each other' export_walk --shared --threads
expect_error "a table" 2 'json or csv' export_walk --format table
check "without a view the runs are listed" bash -c 'pmodel show walks.pmdb | grep -q "^ *SIZE"'
expect_error "no store" 2 'give one store' pmodel show --as histograms 
expect_error "a folder that is not there" 2 'nowhere' export_walk -o nowhere/all.json
check "nothing is left where the export failed" bash -c '
    ! pmodel show --as histograms walks.pmdb --block 128 -o none.json 2>none.err &&
        [ ! -e none.json ] && [ ! -e none.json.part ] && [ ! -s none.json ]'

# ---- samples and shared streams
pmodel run -q -o sampled.pmdb --block 64 --sample 1/2 --shared -P N=0 -- ./walks '{N}'
check "estimates of a sampled run come with their standard error, from eight watched blocks on" bash -c '
    pmodel show --as histograms sampled.pmdb |
        jq -e ".runs[0] | (.estimates | length > 0 and all(.standard_error >= 0 and .misses > 0 and
            .cache_blocks >= 16)) and (.histograms | all(.sample == 2))"'
check "without a sample there are none" bash -c '[ "$(jq -c ".runs[0].estimates" all.json)" = "[]" ]'
pmodel run -q -o shared.pmdb --block 64 --shared -P N=0 -- ./walks '{N}'
check "the shared stream has the accesses of all threads, and is not in their sum" bash -c '
    for option in --shared --threads ""; do
        pmodel show --as histograms shared.pmdb --routine walk $option |
            jq "[.runs[].histograms[] | .cold_stores, (.bins[].stores)] | add"
    done | uniq -c | grep -q " 3 [0-9]"'

# ---- report --threads
pmodel report --as threads walks.pmdb -P N=0 -m icelake-sp >threads.txt
check "the report has a line for each thread, with its own misses" bash -c '
    sed -n "/^threads, each/,\$p" threads.txt | awk "
        /thread [0-2]/ { n++; if (\$4 < 100 * (\$2 + 1) || \$4 > 100 * (\$2 + 1) + 50) exit 1 }
        END { exit n != 3 }"'
expect_error "threads of a size that was not measured" 2 'measured|models' \
    pmodel report --as threads walks.pmdb -P N=3 -m icelake-sp 
expect_error "threads as JSON are an export" 2 'cannot read option "--format"' \
    pmodel report --as threads walks.pmdb -m icelake-sp --format json

# ---- run --bin-width
check "--bin-width is part of what a run was made with" bash -c '
    pmodel run -o widths.pmdb --block 64 --bin-width 0.2 -- ./walks 2>err.txt &&
        grep -q "1 measured" err.txt &&
    pmodel run -o widths.pmdb --block 64 --bin-width 0.20 -- ./walks 2>err.txt &&
        grep -q "1 were there already" err.txt &&
    pmodel run -o widths.pmdb --block 64 --bin-width 0.01 -- ./walks 2>err.txt &&
        grep -q "1 measured" err.txt &&
    pmodel run -o widths.pmdb --block 64 -- ./walks 2>err.txt &&
        grep -q "1 were there already" err.txt'
for width in -0.1 1.5 wide 0.1x '' nan inf; do
    expect_error "--bin-width '$width' is refused" 2 'from 0 .* to 1' \
        pmodel run -o widths.pmdb --bin-width "$width" -- ./walks
done
expect_error "--bin-width without memory" 2 'exclude each other' \
    pmodel run -o widths.pmdb --no-memory --bin-width 0 -- ./walks
