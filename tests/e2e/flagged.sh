# `pmodel fit --flagged`: models of poor quality with the reason, the heaviest first.
. "$TOP/tests/lib.sh"

cat >kinds.c <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
#define WORK(times)                                                                                \
    for (double i = 0; i < (times); i++)                                                           \
        x = x * 0.5 + 1;                                                                           \
    return x;
static unsigned hash(unsigned n) {
    n = (n ^ n << 7) * 2654435761u;
    return (n ^ n >> 15) * 2246822519u >> 16;
}
APART double even(double x, int n) { WORK(3.0 * n * n) }
APART double periodic(double x, int n) { WORK((double)n * n * (1 + n % 3)) }
APART double wild(double x, int n) { WORK(100 + hash((unsigned)n) % 5000) }
APART double doubling(double x, int n) { WORK(exp2(0.6 * n)) }
APART double late(double x, int n) { WORK(n < 22 ? 0 : 50.0 * n + hash((unsigned)n) % 5000) }
int main(int argc, char **argv) {
    int n = atoi(argv[1]);
    printf("%g\n", late(doubling(wild(periodic(even(0, n), n), n), n), n));
    return argc < 2;
}
C
gcc -O1 -g $(pmodel flags) -o kinds kinds.c -lm
pmodel run -q -o kinds.pmdb --no-memory -P N=12:24 -- ./kinds '{N}' >run.out
pmodel fit kinds.pmdb --flagged --format json >flagged.json
# flaws ROUTINE: what is said of a routine
flaws() { jq -c "[.rows[] | select(.label | startswith(\"$1\")) | .reasons[]] | unique" flagged.json; }
says() { flaws "$1" | grep >/dev/null "\"$2\""; }
[ "$(flaws even)" = '[]' ] && pass "a smooth count is not flagged" || fail "a smooth count is not flagged" "$(flaws even)"
check "a period is found" says periodic periodic
check "it is the right one" jq -e '[.rows[] | select(.label | startswith("periodic")) | .period] | max == 3' flagged.json
check "jumps without a period" says wild jumps
check "smooth, but no polynomial of low degree" says doubling form
check "what happens at the larger sizes only" says late sets_in_late
check "by weight" jq -e '[.rows[].weight] | . == (sort | reverse) and length > 3' flagged.json
check "each reason comes with advice" jq -e '([.rows[].reasons[]] | unique) == (.advice | keys)' flagged.json
pmodel fit kinds.pmdb --flagged >flagged.txt
check "the table has reasons and what to do" bash -c 'grep -q "periodic (3)" flagged.txt && grep -q "fit sizes of one residue class" flagged.txt'
check "the heaviest only" bash -c 'pmodel fit kinds.pmdb --flagged --top 1 | grep -q "more of at most"'
check "CSV has all" bash -c '[ "$(pmodel fit kinds.pmdb --flagged --format csv | wc -l)" = "$(jq ".rows | length + 1" flagged.json)" ]'
check "the models are in the store" pmodel report --as formulas kinds.pmdb

pmodel run -q -o few.pmdb --no-memory -P N=12,16,20 -- ./kinds '{N}' >run.out
pmodel fit few.pmdb --flagged --format json >flagged.json
check "few sizes" says wild few_sizes

cat >far.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    size_t n = (size_t)atoi(argv[1]) * 512;
    double *a = calloc(n, sizeof *a), s = 0;
    for (int t = 0; t < 3; t++)
        for (size_t i = 0; i < n; i++) s += a[i] += 1;
    printf("%g\n", s);
    return argc < 2;
}
C
gcc -O1 -g $(pmodel flags) -o far far.c
pmodel run -q -o bounded.pmdb --block 64 --max-blocks 64 -P N=4:14:2 -- ./far '{N}' >run.out
pmodel fit bounded.pmdb --flagged --format json >flagged.json
check "distances beyond a bound" says main bounded
pmodel run -q -o sampled.pmdb --block 64 --sample 1/256 -P N=4:14:2 -- ./far '{N}' >run.out
pmodel fit sampled.pmdb --flagged --format json >flagged.json
check "too few blocks watched" says main sampled

cat >fixed.c <<'C'
#include <stdio.h>
#include <stdlib.h>
double a[200][200];
__attribute__((noinline)) void fill(int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] += 1;
}
int main(int argc, char **argv) {
    fill(atoi(argv[1]));
    printf("%g\n", a[3][4]);
    return argc < 2;
}
C
gcc -O1 -g $(pmodel flags) -o fixed fixed.c
pmodel run -q -o fixed.pmdb --block 64 -P N=10:60:10 -- ./fixed '{N}' >run.out
pmodel fit fixed.pmdb --flagged --format json >flagged.json
check "an array of fixed extent" says fill fixed_extent
check "with its stride" bash -c 'pmodel fit fixed.pmdb --flagged | grep -q "fixed extent (1600 bytes, of which 480 are used)"'
