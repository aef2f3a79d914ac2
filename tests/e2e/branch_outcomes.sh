# `pmodel run`: how often the reference predictors are wrong at branches whose outcomes are
# known, from the program to the table, to models, and to the time; and entries of loops by their trips.
. "$TOP/tests/lib.sh"

cat >known.c <<'END'
#include <stdio.h>
#include <stdlib.h>

static unsigned long state = 88172645463325252ul;
static unsigned long draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}
volatile long coins, rare, sevens, trips, entries[9];
__attribute__((noinline)) static void coin(unsigned long random) {
    if (random & 1) /* COIN */
        coins++;
}
__attribute__((noinline)) static void tenth(unsigned long random) {
    if (random % 10 == 3) /* TENTH */
        rare++;
}
__attribute__((noinline)) static void seven(void) {
    for (int k = 0; k < 7; k++) /* SEVEN */
        sevens++;
}
__attribute__((noinline)) static int early(unsigned long random) {
    for (int k = 0; k < 9; k++) /* EARLY */
        if (entries[k] == (long)(random % 7))
            return k;
    return 0;
}
__attribute__((noinline)) static void any(unsigned long random) {
    entries[1 + (random >> 20 & 7)]++;
    for (unsigned k = 0; k < 1 + (random >> 20 & 7); k++) /* ANY */
        trips++;
}
int main(int argc, char **argv) {
    for (long i = 0, n = argc > 1 ? atol(argv[1]) : 0; i < n; i++) {
        unsigned long random = draw();
        coin(random);
        tenth(random);
        seven();
        any(random);
        early(random);
    }
    printf("%ld %ld %ld %ld\n", coins, rare, sevens, trips);
    for (int k = 1; k < 9; k++)
        printf("%d %ld\n", k, entries[k]);
}
END
check "the program builds" gcc -O1 -g -fno-if-conversion -fno-if-conversion2 -o known known.c || exit 1

./known 40000 >plain
pmodel run -q -o known.pmdb -P N=10000,20000,30000,40000 -- ./known '{N}' 2>run.err
check "it is measured" sh -c '! [ -s run.err ]'
pmodel show --as branches known.pmdb --format csv | tr -d '\r' >branches.csv
read -r coins rare sevens trips <plain

# field ROUTINE NAME: of its branch.
field() {
    awk -F, -v routine="$1" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { label = $column["label"]; gsub(/"/, "", label); sub(/[\/ ].*/, "", label) }
        label == routine { print $column[name] }' branches.csv
}
# executed TITLE ROUTINE EXECUTIONS RARER: exactly so often, and the rarer way so often.
executed() {
    check "$1" awk -v executions="$(field "$2" executions)" -v taken="$(field "$2" taken_share)" \
        -v expected="$3" -v rarer="$4" 'BEGIN {
            way = executions * (taken < 0.5 ? taken : 1 - taken)
            exit !(executions == expected && way > rarer - 0.5 && way < rarer + 0.5) }'
}
executed "coins are counted exactly" coin 40000 $((coins < 20000 ? coins : 40000 - coins))
executed "rare outcomes are counted exactly" tenth 40000 "$rare"
executed "a visit of a loop is all its outcomes" seven "$sevens" 40000
executed "and so it is where the number of iterations varies" any "$trips" 40000

# wrong TITLE ROUTINE PREDICTOR LOW HIGH
wrong() {
    check "$1" awk -v share="$(field "$2" "wrong_$3_share")" -v low="$4" -v high="$5" \
        'BEGIN { exit !(share != "" && share >= low && share <= high) }'
}
for predictor in tage gshare bimodal; do
    wrong "nobody predicts coins ($predictor)" coin $predictor 0.48 0.52
    wrong "nobody predicts rare chances ($predictor)" tenth $predictor 0.09 0.18
done
wrong "TAGE learns trips of seven" seven tage 0 0.01
wrong "two-bit counters are wrong at each exit" seven bimodal 0.1428 0.1429
wrong "random trips stay unpredictable" any tage 0.18 0.25

# ---- trips ----
pmodel show --as branches known.pmdb --format json >branches.json
# of_loop LABEL: trips of its entries, and how many entries have so many, a line each
of_loop() {
    jq -r --arg loop "$1" '.branches[] | select(.label | startswith($loop)) | .trips[]? | "\(.trips) \(.entries)"' branches.json
}
check "entries are counted by their trips" test "$(of_loop any/)" = "$(tail -n +2 plain)"
check "where all are alike, that is one number" test "$(of_loop seven/)" = "7 40000"
check "a loop with a call in it has its trips" test "$(of_loop main/ | head -n 1)" = "40000 1"
check "a loop that is left by two ways has none" test -z "$(of_loop early/)"
check "and is said to be unknown" jq -e '[.branches[] | select(.label | startswith("early/"))] | length > 0 and all(.trips == null and .trips_mean == null)' branches.json

# ---- models, and time ----
pmodel fit known.pmdb >fit.out 2>&1
pmodel report known.pmdb -m sapphire-rapids -P N=80000 --notes >measured.txt 2>&1
check "a prediction says whose mispredictions it takes" \
    grep -q 'Branches count as wrong as often as a reference predictor (tage) was' measured.txt
check "and names no most for them" sh -c '! grep -q "go the rarer way, at most" measured.txt'
pmodel run -q --no-behaviour -o counts.pmdb -P N=10000,20000,30000,40000 -- ./known '{N}'
pmodel fit counts.pmdb >fit.out 2>&1
pmodel report counts.pmdb -m sapphire-rapids -P N=80000 --notes >counts.txt 2>&1
check "without it the most is said, and that it was not measured" \
    grep -q 'at most (how often was not measured)' counts.txt
expect_error "branches that were not measured are named" 2 'has no branches: `pmodel run -o counts.pmdb` .*--no-behaviour' \
    pmodel show --as branches counts.pmdb
pmodel run -o counts.pmdb -P N=10000 -- ./known '{N}' 2>again.err
check "a size that lacks it is measured again" grep -q '1 measured, 0 were there' again.err
pmodel run -o counts.pmdb -P N=10000 -- ./known '{N}' 2>again.err
check "and then is there" grep -q '0 measured, 1 were there' again.err

# ---- models of trips, and the time of entries of many lengths ----
check "the report of a loop has its trips at a size never run" sh -c \
    "pmodel report --as loop known.pmdb -m sapphire-rapids -P N=80000 --format json any | jq -e '(.trips.shortest - 1 | fabs) < 0.1 and (.trips.longest - 8 | fabs) < 0.2 and (.trips.mean - 4.5 | fabs) < 0.1'"
cat >rows.c <<'END'
#include <stdlib.h>
volatile double result;
/* Sums over rows of 6 elements, and over MANY rows of half of all elements together. */
__attribute__((noinline)) static double sum(const double *x, long n) {
    double total = 0;
    for (long k = 0; k < n; k++)
        total += x[k];
    return total;
}
int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 0, many = argc > 2 ? atol(argv[2]) : 1;
    double *x = calloc(6 * n, sizeof *x);
    for (long i = 0; i < n; i++)
        result = sum(x + 6 * i, 6);
    for (long i = 0; i < many; i++)
        result = sum(x, 6 * n / many);
    free(x);
}
END
check "rows build" gcc -O1 -g -o rows rows.c || exit 1
for many in 4 1000; do
    pmodel run -q -o "rows.$many.pmdb" -P N=1000,2000,3000,4000 -- ./rows '{N}' "$many"
    pmodel fit "rows.$many.pmdb" >fit.out 2>&1
done
# an_iteration MANY N: cycles
an_iteration() {
    pmodel report "rows.$1.pmdb" -m sapphire-rapids -P "N=$2" --format json |
        jq '[.predictions[0].scopes[] | select(.kind == "loop" and .parent != null)] | max_by(.iterations) | .self.schedule_cycles / .iterations'
}
# In long rows an addition waits for the one before, short ones run beside each other.
for n in 4000 16000; do
    check "half of the iterations in a few long rows take longer than short rows alone (N=$n)" awk \
        -v short="$(an_iteration 1000 $n)" -v mixed="$(an_iteration 4 $n)" \
        'BEGIN { exit !(short > 0 && mixed > 1.5 * short) }'
done
