# `pmodel validate --time`: predicted beside measured seconds. Times are noisy: what is checked is which rows there are, that they
# add up, and where the time of routines without a timer goes, never how fast anything is.
. "$TOP/tests/lib.sh"

cat >calls.c <<'C'
#include <stdio.h>
#include <stdlib.h>
/* Called for each element: far too often for a timer. */
__attribute__((noinline)) static double tiny(double x) { return 0.5 * x + 1; }
__attribute__((noinline)) static double work(double *a, int n) {
    double s = 0;
    for (int k = 0; k < 200; k++)
        for (int i = 0; i < n * n; i++) s += tiny(a[i]);
    return s;
}
__attribute__((noinline)) static void fill(double *a, int n) {
    for (int k = 0; k < 200; k++)
        for (int i = 0; i < n * n; i++) a[i] = a[i] * 0.5 + i;
}
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 0;
    double *a = calloc((size_t)n * n, sizeof *a);
    fill(a, n);
    printf("%g\n", work(a, n));
    free(a);
    return 0;
}
C
check "the program builds" gcc -O2 -g $(pmodel flags) -o calls calls.c
check "it is counted at small sizes" pmodel run -q -o calls.pmdb -m r12000,icelake-sp -P N=16:64:8 -- ./calls '{N}'
check "models" pmodel fit calls.pmdb
before=$(sha256sum calls.pmdb)

json() { pmodel validate --time -q -s calls.pmdb --format json "$@" 2>errors >times.json; }
holds() {
    if jq -e "$2" times.json >/dev/null 2>&1; then pass "$1"; else fail "$1" "$(cat errors; jq -c "$2" times.json 2>&1 | head -c 300)"; fi
}

json -m icelake-sp --repeat 3 -P N=200 -- ./calls '{N}'
holds "the output is JSON of its kind" '.format == "pmodel-validation-times" and .version == 1'
holds "the size is beyond those fitted" '.sizes[0] | .parameters.N == 200 and .extrapolation > 3 and .machine == "icelake-sp"'
holds "the program comes first, what is in no timer last" \
    '.sizes[0].rows | .[0].kind == "program" and .[-1].kind == "untimed" and (.[1:-1] | all(.kind == "nest"))'
holds "each row was measured in each process, of which there are more where the least does not repeat" \
    '.sizes[0].rows | (map(.runs_seconds | length) | unique) as $n | ($n | length) == 1 and $n[0] >= 3 and $n[0] <= 9'
holds "the least of all, the median and p90 are in order" '.sizes[0].rows | all(.measured_seconds == (.runs_seconds | min) and
    .measured_seconds <= .median_seconds and .median_seconds <= .p90_seconds)'
holds "predicted rows add up to the program" \
    '.sizes[0].rows | (.[1:] | map(.predicted_seconds) | add) as $sum | ($sum / .[0].predicted_seconds - 1 | fabs) < 1e-9'
holds "parts of a row add up to it" \
    '.sizes[0].rows | all(([.parts_seconds[]] | add) as $sum | ($sum - .predicted_seconds | fabs) <= 1e-9 * .predicted_seconds)'
holds "errors are of what was measured" \
    '.sizes[0].rows | all(.error == null or ((.predicted_seconds / .measured_seconds - 1 - .error) | fabs) < 1e-9)'
holds "the interval holds the prediction, and says whether it holds the time" \
    '.sizes[0].rows | all(.low_seconds <= .predicted_seconds and .predicted_seconds <= .high_seconds
       and (.inside == null or .inside == (.low_seconds <= .measured_seconds and .measured_seconds <= .high_seconds)))'
pmodel report calls.pmdb -m icelake-sp -P N=200 --format json >report.json
if jq -e --slurpfile report report.json '.sizes[0].rows[0] as $here | $report[0].predictions[0] as $there
    | [("low_seconds", "high_seconds") as $at | ($here[$at] / $there[$at] - 1 | fabs) < 1e-9] | all' times.json >/dev/null; then
    pass "the program's interval is that of the report"
else
    fail "the program's interval is that of the report" "$(jq -c '.sizes[0].rows[0] | {low_seconds, high_seconds}' times.json)"
fi
# `work` calls `tiny` so often that it may have no timer, either: then its time is in that of `main`.
holds "the loop of one routine, and what holds the other, are large" \
    '[.sizes[0].rows[] | select(.large) | .label | split("/")[0]] | unique | . == ["fill", "main"] or . == ["fill", "work"]'
holds "a routine without a timer is no row, and its time is where it is called" \
    '.sizes[0].rows | all(.name != "tiny") and (.[-1].predicted_seconds < 0.01 * .[0].predicted_seconds)'
check "the store with the models is only read" test "$before" = "$(sha256sum calls.pmdb)"

json -m r12000,icelake-sp --repeat 1 --keep kept.pmdb -P N=80,96 -- ./calls '{N}'
holds "each size on each machine" '[.sizes[] | [.parameters.N, .machine]]
    == [[80, "r12000"], [80, "icelake-sp"], [96, "r12000"], [96, "icelake-sp"]]'
pmodel validate --time -s calls.pmdb -m icelake-sp --repeat 2 --keep kept.pmdb -P N=96 -- ./calls '{N}' >table.txt 2>errors
check "the table says how it was measured" grep -q '^measured in [2-6] processes, the least on ' table.txt
check "and what is in no timer" grep -q 'in no timer' table.txt
pmodel validate --time -q -s calls.pmdb -m icelake-sp --repeat 1 --format csv -P N=96 -- ./calls '{N}' 2>/dev/null | tr -d '\r' >out.csv
if awk -F, 'NR == 1 { n = NF } END { exit NR < 4 || n != 25 }' out.csv && grep -q '^N=96,icelake-sp,program,' out.csv; then
    pass "CSV has a line for each row"
else
    fail "CSV has a line for each row" "$(head -3 out.csv)"
fi

# ---- times of another machine ---------------------------------------------------------------------

check "times for another machine" pmodel run -q --time -o there.pmdb -m icelake-sp -P N=160 -- ./calls '{N}'
pmodel report there.pmdb -m icelake-sp --format json >there.json
json -m icelake-sp --measured there.json
holds "times from a file are compared without running anything" \
    '.sizes[0] | .parameters.N == 160 and .nests.n == 2 and (.rows | all(.runs_seconds | length == 1))'
json -m icelake-sp --set page_fault=5000 --measured there.json
holds "pages that are touched for the first time cost what the machine file says" \
    '.sizes[0].rows[0] | .first_touches > 40 and (.parts_seconds.first_touches * 3.4e9 / .first_touches / 5000 - 1 | fabs) < 1e-6'
jq '.predictions[0].measured = null' there.json >none.json
expect_error "a file without times is refused" 2 'has no measured times' \
    pmodel validate --time -s calls.pmdb -m icelake-sp --measured none.json
jq '(.predictions[0].measured.timers[] | .key) = "0x1"' there.json >other.json
expect_error "times of another program are refused" 2 'none of its keys' \
    pmodel validate --time -s calls.pmdb -m icelake-sp --measured other.json
expect_error "a file and a command exclude each other" 2 'give no command' \
    pmodel validate --time -s calls.pmdb -m icelake-sp --measured there.json -- ./calls 8
