# Time on several cores: pmodel report of runs with threads, by counts that are known.
. "$TOP/tests/lib.sh"
cores=$TOP/bench/apps/threads

# built NAME: at -O1 a row of the triangle goes round once for each of its elements.
built() {
    gcc -O1 -g -fopenmp "$(pmodel flags)" -o "$1" "$cores/$1.c"
}
# run NAME SIZES THREADS ARGUMENT...
run() {
    local name=$1 sizes=$2 threads=$3
    shift 3
    pmodel run -q -o "$name.pmdb" -m sapphire-rapids --env 'OMP_NUM_THREADS={p}' -P "p=$threads" -P "N=$sizes" -- \
        "./$name" '{N}' "$@" >/dev/null 2>run.errors || cat run.errors
}
# report NAME SIZE THREADS OPTION...: the prediction as JSON.
report() {
    local name=$1 size=$2 threads=$3
    shift 3
    pmodel report "$name.pmdb" -m sapphire-rapids -P "N=$size,p=$threads" "$@" --format json 2>errors | jq '.predictions[0]'
}
# says NAME FILTER: jq's FILTER is true of the report in `answer`.
says() {
    if jq -e "$2" answer >/dev/null; then
        pass "$1"
    else
        fail "$1" "$(jq -c '[.seconds, .cores]' answer)"
    fi
}
loop='([.rows[] | select(.kind == "loop" and (.name | startswith("row")))] | map(.iterations) | add)'

# ---- a triangle, whose last rows are the longest ----
# What a time round takes depends on how long the row is, so times are compared roughly; counts are exact.
built triangle && run triangle 160,240,320,400 1,2,4 10
report triangle 400 1 >answer
says "one thread: the time is its own" '.cores == null'
one=$(jq .seconds answer)
report triangle 400 2 >answer
says "two threads: the one with the second half of the rows counts" "$loop == 10 * (401 * 400 - 201 * 200) / 2 and .cores.cores == 2 and .cores.checked"
says "two threads: it has 60100 of 80200 elements" '(.cores.imbalance - 2 * 60100 / 80200 | fabs) < 0.15'
says "two threads: in all they take as long as one" "(.cores.thread_seconds / $one - 1 | fabs) < 0.15"
says "rows add up to the whole" '([.rows[].self_seconds | select(. != null)] | add) as $sum | ($sum / .seconds - 1 | fabs) < 1e-6'
report triangle 400 4 >answer
says "four threads: the one with the last quarter counts" "$loop == 10 * (401 * 400 - 301 * 300) / 2"
says "four cores were not checked with a clock" '.cores.checked == false and (.notes | any(startswith("Not checked")))'
pmodel report triangle.pmdb -m sapphire-rapids -P N=400,p=4 >table 2>errors
check "the header says so" grep -q 'on 4 cores, not checked with a clock' table
check "the part has a line with its imbalance" grep -qE '1\.[5-9][0-9] +in_turn +triangle.c:' table
report triangle 400 4 --cores 2 >answer
says "four threads dealt to two cores: the second has the second and the fourth" \
    "$loop == 10 * (201 * 200 - 101 * 100 + 401 * 400 - 301 * 300) / 2 and .cores.cores == 2 and .cores.threads == 4"
report triangle 400 4 --cores 1 >answer
says "four threads on one core take as long as one" "(.seconds / $one - 1 | fabs) < 0.15"
expect_error "no cores are an error" 2 'cores takes a whole number' pmodel report triangle.pmdb --cores 0

# ---- a size that was not run ----
pmodel fit triangle.pmdb >/dev/null
report triangle 800 2 >answer
says "a size not run: threads share the work as in the nearest run" \
    '(.cores.imbalance - 1.5 | fabs) < 0.15 and (.notes | any(endswith("those of the run N=400 p=2.")))'
says "a size not run: so often does the slowest go round" "($loop / (10 * (801 * 800 - 401 * 400) / 2) - 1 | fabs) < 0.02"
says "a size not run: between the ends of an interval" '.low_seconds <= .seconds and .seconds <= .high_seconds'
report triangle 800 1 >answer
says "a size not run by one thread is of one" '.cores == null'
pmodel report --as scaling triangle.pmdb -m sapphire-rapids -P N=400:800:400 -P p=2 --format json >scale.json 2>errors
check "scale follows the time on two cores" jq -e --argjson one "$one" '[.. | .seconds? // empty | numbers] | any(. > 0.7 * $one and . < 0.9 * $one)' scale.json

# ---- a grid that is shared out evenly ----
built stencil && run stencil 66 1,2 10
report stencil 66 1 >answer
one=$(jq .seconds answer)
report stencil 66 2 >answer
says "even shares: each core has half" '.cores.imbalance < 1.02'
says "even shares: half the time" "(2 * .seconds / $one - 1 | fabs) < 0.1"

# ---- a lock and a barrier of the program's own ----
built spin && run spin 1000 1,2 50
report spin 1000 1 >answer
one=$(jq .seconds answer)
report spin 1000 2 >answer
says "waiting at the barrier is named" '.cores.spin_loops | any(.rounds > 0 and .line_first >= 22 and .line_first <= 30)'
says "waiting is in no row: once a barrier at most" '[.rows[] | select(.kind == "loop" and (.name | test("wait_for_all|acquire")))] | all(.iterations <= 50 + 1e-6)'
says "the thread with twice the work counts, as if it were alone" "(.seconds / $one - 1 | fabs) < 0.05"
says "the work of the other is half" '(.cores.imbalance - 4 / 3 | fabs) < 0.05'
pmodel report spin.pmdb -m sapphire-rapids -P p=2 >table 2>errors
check "what is left out has a table" grep -q '^left out: rounds in which a thread only waited' table

# ---- threads that the first one waits for ----
cat >workers.c <<'EOF_WORKERS'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static double a[4000];
static pthread_barrier_t all_there; /* else one thread may have ended when the next begins */
static void *work(void *n) {
    double sum = 0;
    pthread_barrier_wait(&all_there);
    for (long i = 0; i < (long)n; i++)
        sum += a[i];
    a[0] = sum;
    return NULL;
}
int main(int argc, char **argv) {
    pthread_t ids[2];
    pthread_barrier_init(&all_there, NULL, 2);
    for (long t = 0; t < 2; t++)
        pthread_create(&ids[t], NULL, work, (void *)(atol(argv[argc - 1]) * (1 + 2 * t)));
    for (long t = 0; t < 2; t++)
        pthread_join(ids[t], NULL);
    return 0;
}
EOF_WORKERS
gcc -O1 -g -pthread "$(pmodel flags)" -o workers workers.c
pmodel run -q -o workers.pmdb -m sapphire-rapids -P N=1000 -- ./workers '{N}'
pmodel report workers.pmdb -m sapphire-rapids --format json 2>errors | jq '.predictions[0]' >answer
says "a first thread that only waits has no core" '.cores.cores == 2 and .cores.threads == 2'
says "the longer of two threads counts" '[.rows[] | select(.kind == "loop" and .name == "work") | .iterations] == [3000]'
says "their mean is of the two" '(.cores.parts[] | select(.label == "work") | .imbalance) as $i | $i > 1.35 and $i < 1.55'

# ---- stores without the threads' counts ----
sqlite3 spin.pmdb 'DELETE FROM thread_edges'
report spin 1000 2 >answer
says "then all threads are added up" '.cores == null'
