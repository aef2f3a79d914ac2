# `pmodel validate --hierarchy`: the routine that is modelled badly is named, and the rest is exact.
. "$TOP/tests/lib.sh"

cat >parts.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
double a[1 << 20];
APART double squares(double x, int n) {
    for (int i = 0; i < n * n; i++)
        x += a[i] * 0.5;
    return x;
}
APART double cubes(double x, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n * n; j++)
            x += a[j] * 0.25;
    return x;
}
APART double wild(double x, int n) { /* as often as the size, hashed, says */
    unsigned times = 200 * n + (n * 2654435761u >> 20) * 16;
    for (unsigned i = 0; i < times; i++)
        x += a[i] * 0.125;
    return x;
}
int main(int argc, char **argv) {
    int n = atoi(argv[1]);
    printf("%g\n", wild(cubes(squares(0, n), n), n));
    return argc < 2;
}
C
gcc -O1 -g $(pmodel flags) -o parts parts.c
check "sizes are measured" pmodel run -q -o parts.pmdb --block 64 -P N=16:58:6 -- ./parts '{N}'
pmodel fit parts.pmdb >fit.txt
check "the measured sizes are compared without running anything" bash -c \
    'mv parts away && pmodel validate --hierarchy -s parts.pmdb --counts fp_mult,fp_add,accesses --caches 64,512 --format json >fitted.json; mv away parts; [ -s fitted.json ]'
check "the wild routine is named, alone" jq -e \
    '[.comparisons[0].quantities[] | select(.quantity != "misses") | [.routines[] | select(.named) | .name] == ["wild"]] | all and length == 3' fitted.json
check "the rest is exact" jq -e '[.comparisons[0].quantities[] | select(.quantity != "misses") | .rest_error < 1e-9] | all' fitted.json
check "and the program total is not" jq -e '[.comparisons[0].quantities[] | select(.quantity != "misses") | .total_error > 1e-3] | all' fitted.json
check "routines with exact models have no error" jq -e \
    '[.comparisons[0].quantities[0].routines[] | select(.name == "squares" or .name == "cubes") | .own_error < 1e-9 and .part_of_error < 1e-9] | all and length == 2' fitted.json
check "parts of the error add up to 1" jq -e '[.comparisons[0].quantities[0].routines[].part_of_error] | add - 1 | fabs < 1e-9' fitted.json
check "misses are compared by groups" jq -e \
    '[.comparisons[0].quantities[] | select(.quantity == "misses") | .total_error == null and .parts_error != null] | all and length == 2' fitted.json
pmodel validate --hierarchy -q -s parts.pmdb --counts fp_mult --caches 64 -P N=96,100 --format json -- ./parts '{N}' >run.json 2>run.err
check "sizes that were not fitted are compared each apart" jq -e \
    '[.comparisons[].sizes[0].N] == [96, 100] and ([.comparisons[].fitted] | any | not)' run.json
check "there too the wild routine is named" jq -e \
    '[.comparisons[].quantities[0] | (.routines[0].name == "wild") and .rest_error < 1e-9] | all' run.json
pmodel validate --hierarchy -s parts.pmdb --counts fp_mult --caches 64 >table.txt
check "the table names it" bash -c 'grep -q "exact *wild" table.txt && grep -q "where the error lives" table.txt'
check "CSV has a line for the program total and each routine" bash -c \
    '[ "$(pmodel validate --hierarchy -s parts.pmdb --counts fp_mult --caches 64 --format csv | grep -c ",fp_mult,")" = "$(jq ".comparisons[0].quantities[0].routines | length + 1" run.json)" ]'
expect_error "machines are another comparison" 2 'hierarchy and -m exclude each other' pmodel validate --hierarchy -m r12000 -s parts.pmdb
expect_error "--counts belongs to it" 2 'counts needs --hierarchy' pmodel validate --counts fp_add -s parts.pmdb -P N=96 -- ./parts '{N}'
expect_error "a class that there is not" 2 'no instruction class' pmodel validate --hierarchy --counts fp_ad -s parts.pmdb
expect_error "without it a command is needed" 2 '.' pmodel validate -s parts.pmdb
