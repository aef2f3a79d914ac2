# Sizes at which data are aligned otherwise are found, and left out with --drop-outliers.
. "$TOP/tests/lib.sh"

cat >rows.c <<'C'
/* Rows of a multiple of 8 doubles begin where a cache line does; those of odd length do not, and of
   the vectors in them every second one lies in two lines. */
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
static double *new_array(size_t n) { return aligned_alloc(4096, (n * sizeof(double) + 4095) / 4096 * 4096); }
APART void add(double *restrict a, const double *restrict b, size_t n, size_t row) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            a[i * row + j] += b[i * row + j];
}
APART double dot(const double *restrict a, const double *restrict b, size_t n, size_t row) {
    double s = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            s += a[i * row + j] * b[i * row + j];
    return s;
}
int main(int argc, char **argv) {
    size_t n = (size_t)atoi(argv[1]), row = (size_t)atoi(argv[2]);
    double *a = new_array(n * row), *b = new_array(n * row), s = 0;
    for (size_t i = 0; i < n * row; i++)
        a[i] = b[i] = 1;
    for (int t = 0; t < 3; t++) {
        add(a, b, n, row);
        s += dot(a, b, n, row);
    }
    printf("%g\n", s);
    return argc < 3;
}
C
gcc -O3 -g -ffast-math -march=x86-64-v3 $(pmodel flags) -o rows rows.c
check "sizes are measured" pmodel run -q -o rows.pmdb --block 64 -P N=64:176:16 -P 'L=N+(N==96||N==144)' -- ./rows '{N}' '{L}'
pmodel fit rows.pmdb --format json >fit.json
check "the sizes with rows of odd length are found" jq -e '[.summary.outlier_sizes[].parameters.N] == [96, 144]' fit.json
check "in many groups and by much" jq -e '[.summary.outlier_sizes[] | .groups >= 3 and .share > 0.5 and .difference > 0.1 and (.dropped | not)] | all' fit.json
check "the table says so" bash -c 'pmodel fit rows.pmdb | grep -q "N=96 is an outlier"'
pmodel fit rows.pmdb --drop-outliers --format json >dropped.json
check "they are left out" jq -e '.runs == 6 and ([.summary.outlier_sizes[].dropped] | all)' dropped.json
check "more models are exact then" [ "$(jq .summary.exact dropped.json)" -gt "$(jq .summary.exact fit.json)" ]
check "fewer are flagged" [ "$(jq .summary.flagged dropped.json)" -lt "$(jq .summary.flagged fit.json)" ]
check "the store counts as fitted" pmodel report --as formulas rows.pmdb
pmodel validate -q -s rows.pmdb --caches 512 -P N=320 -P L=N --format json -- ./rows '{N}' '{L}' >validated.json 2>&1
check "an aligned size is then predicted to a hundredth" jq -e '[.sizes[0].comparisons[] | select(.quantity == "misses") | .error | fabs < 0.01] | all and length == 1' validated.json

pmodel run -q -o even.pmdb --block 64 -P N=64:176:16 -P L=N -- ./rows '{N}' '{L}' >run.out
pmodel fit even.pmdb --format json >fit.json
check "none is found where all rows are aligned" jq -e '.summary.outlier_sizes == []' fit.json
pmodel run -q -o odd.pmdb --block 64 -P N=65:177:16 -P L=N -- ./rows '{N}' '{L}' >run.out
pmodel fit odd.pmdb --drop-outliers --format json >fit.json
check "nor where none is" jq -e '.summary.outlier_sizes == [] and .runs == 8' fit.json
