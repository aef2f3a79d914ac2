# Two parameters end to end: runs over a grid of sizes, models in products, reports and validation at larger ones.
. "$TOP/tests/lib.sh"

cat >plate.c <<'C'
/* A plate of A rows and B columns: sweeps of a five-point stencil, sums along rows and columns, a walk by columns, and the
   distances of all pairs of rows. */
#include <stdio.h>
#include <stdlib.h>
static double *u, *v, *by_row, *by_column;
static void sweep(int a, int b) {
    for (int i = 1; i < a - 1; i++)
        for (int j = 1; j < b - 1; j++)
            v[i * b + j] = 0.25 * (u[(i - 1) * b + j] + u[(i + 1) * b + j] + u[i * b + j - 1] + u[i * b + j + 1]);
}
static void sums(int a, int b) {
    for (int i = 0; i < a; i++)
        for (int j = 0; j < b; j++) by_column[j] += u[i * b + j];
    for (int j = 0; j < b; j++)
        for (int i = 0; i < a; i++) by_row[i] += u[i * b + j];
}
static double pairs(int a, int b) {
    double sum = 0;
    for (int i = 0; i < a; i++)
        for (int k = 0; k < i; k++)
            for (int j = 0; j < b; j++) sum += (u[i * b + j] - u[k * b + j]) * (u[i * b + j] - u[k * b + j]);
    return sum;
}
int main(int argc, char **argv) {
    int a = argc > 1 ? atoi(argv[1]) : 0, b = argc > 2 ? atoi(argv[2]) : 0;
    if (a < 4 || b < 4) return 3;
    u = calloc((size_t)a * b, sizeof *u), v = calloc((size_t)a * b, sizeof *v);
    by_row = calloc(a, sizeof *u), by_column = calloc(b, sizeof *u);
    for (int i = 0; i < a * b; i++) u[i] = i % 17;
    for (int k = 0; k < 4; k++) {
        sweep(a, b);
        double *other = u;
        u = v, v = other;
    }
    sums(a, b);
    printf("%g %g %g\n", pairs(a, b), by_row[a - 1], by_column[b - 1]);
    return 0;
}
C
check "the program builds" gcc -O1 -g $(pmodel flags) -o plate plate.c
check "runs over a grid of two sizes" \
    pmodel run -q -o plate.pmdb --block 32,64,128,32768 -P A=12,16,24,32,48 -P B=16,24,32,48,64 -- ./plate '{A}' '{B}'
check "models in both" pmodel fit plate.pmdb
pmodel fit --models --format csv plate.pmdb | tr -d '\r' >models.csv
# formula LINE EXPECTED: iterations of the loop at this line.
formula() {
    local found
    found=$(awk -F, -v line="$1" '$2 == "iterations" && $5 == line { print $12 }' models.csv)
    if [ "$found" = "$2" ]; then pass "iterations of the loop at line $1"; else fail "iterations of the loop at line $1" "$found"; fi
}
formula 8 '4*A*B - 8*B - 8*A + 16'
formula 20 '0.5*A^2 - 0.5*A'
formula 21 '0.5*A^2*B - 0.5*A*B'

check "a basis of functions of each" pmodel fit --basis 'A, A^2, B, B*log2(B)' plate.pmdb
expect_error "a function of both is refused, because products are formed" 2 '`A\*B` is not a function of one' \
    pmodel fit --basis 'A*B' plate.pmdb
expect_error "a search is for one parameter" 2 'A and B vary' pmodel fit --search plate.pmdb
check "models again" pmodel fit plate.pmdb
pmodel report --as formulas -P A=96 -P B=128 plate.pmdb | grep >/dev/null '\*A^2\*B + ' &&
    pass "counts by class are functions of both" || fail "counts by class are functions of both" "$(pmodel report --as formulas plate.pmdb)"

check "a size that was not run can be reported" pmodel report -m r12000 -P A=96 -P B=128 plate.pmdb
pmodel report -m r12000 -P A=96 -P B=128 plate.pmdb | grep >/dev/null 'extrapolated 2.0x' &&
    pass "how far it goes beyond is the largest ratio" || fail "how far it goes beyond is the largest ratio"
expect_error "a parameter that is missing is named" 2 'functions of B, which is not given: add -P B=' \
    pmodel report -m r12000 -P A=96 plate.pmdb

expect_error "a parameter that is given twice is refused" 2 'A is given twice' \
    pmodel report -m r12000 -P A=96 -P A=128 plate.pmdb

# validates A B LIMIT: the program's accesses are exact, its misses off by less than LIMIT in the median.
validates() {
    pmodel validate -q -s plate.pmdb --format json -P "A=$1" -P "B=$2" -- ./plate '{A}' '{B}' >v.json 2>errors
    if [ -s v.json ] && jq -e "(.sizes[0].basic_blocks | .exact == .executed) and
              ([.sizes[0].summaries[] | select(.quantity == \"misses\" and .block_bytes == 64) | .program.median] | length == 1 and max < $3)" v.json >/dev/null; then
        pass "A=$1 B=$2: executions are exact, misses off by less than $3"
    else
        fail "A=$1 B=$2: executions are exact, misses off by less than $3" \
            "$(jq -c '[.sizes[0].basic_blocks, .sizes[0].summaries]' v.json 2>&1 | head -c 600)"
    fi
}
validates 96 128 0.02
validates 96 64 0.02
validates 48 128 0.02

expect_error "a parameter of two values gets a sentence that says what to run" 2 'B has only 2 values.*-P B=' \
    bash -c 'pmodel run -q -o few.pmdb --no-memory -P A=12,16,24 -P B=16,24 -- ./plate "{A}" "{B}" >/dev/null && pmodel fit few.pmdb'
