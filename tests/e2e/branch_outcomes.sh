# `pmodel run --behaviour`: how often the reference predictors are wrong at branches whose outcomes are
# known, from the program to the table, to models, and to the time.
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
volatile long coins, rare, sevens, trips;
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
__attribute__((noinline)) static void any(unsigned long random) {
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
    }
    printf("%ld %ld %ld %ld\n", coins, rare, sevens, trips);
}
END
check "the program builds" gcc -O1 -g -fno-if-conversion -fno-if-conversion2 -o known known.c || exit 1

./known 40000 >plain
pmodel run -q -o known.pmdb --behaviour -P N=10000,20000,30000,40000 -- ./known '{N}' 2>run.err
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

# ---- models, and time ----
pmodel fit known.pmdb >fit.out 2>&1
pmodel report known.pmdb -m sapphire-rapids -P N=80000 --notes >measured.txt 2>&1
check "a prediction says whose mispredictions it takes" \
    grep -q 'Branches count as wrong as often as a reference predictor (tage) was' measured.txt
check "and names no most for them" sh -c '! grep -q "go the rarer way, at most" measured.txt'
pmodel run -q -o counts.pmdb -P N=10000,20000,30000,40000 -- ./known '{N}'
pmodel fit counts.pmdb >fit.out 2>&1
pmodel report counts.pmdb -m sapphire-rapids -P N=80000 --notes >counts.txt 2>&1
check "without it the most is said, and how to measure" \
    grep -q 'at most (`pmodel run --behaviour` measures how often)' counts.txt
expect_error "branches that were not measured are named" 2 'has no branches: `pmodel run --behaviour' \
    pmodel show --as branches counts.pmdb
pmodel run -o counts.pmdb --behaviour -P N=10000 -- ./known '{N}' 2>again.err
check "a size that lacks it is measured again" grep -q '1 measured, 0 were there' again.err
pmodel run -o counts.pmdb --behaviour -P N=10000 -- ./known '{N}' 2>again.err
check "and then is there" grep -q '0 measured, 1 were there' again.err
