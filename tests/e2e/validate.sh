# `pmodel validate`: predictions beside a measured run; only the models' store decides, and stays.
. "$TOP/tests/lib.sh"

cat >sweep.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 0;
    if (n < 4) { fprintf(stderr, "sweep: the size must be at least 4\n"); return 3; }
    double *a = calloc((size_t)n * n, sizeof *a), s = 0;
    for (int k = 0; k < 3; k++)
        for (int i = 1; i < n; i++)
            for (int j = 1; j < n; j++) a[i * n + j] += 0.5 * a[(i - 1) * n + j - 1] + i;
    for (int i = 0; i < n * n; i += 8) s += a[i];
    printf("%g\n", s);
    free(a);
    return 0;
}
C
sed 's/k < 3/k < 4/' sweep.c >other.c
build() { gcc -O1 -g $(pmodel flags) -o "$1" "$1.c"; }
check "the program builds" build sweep
check "another program builds" build other
check "runs at small sizes" pmodel run -q -o sweep.pmdb --block 64,4096 -P N=16:64:8 -- ./sweep '{N}'
expect_error "without models there is nothing to validate" 2 'pmodel fit' \
    pmodel validate -q -s sweep.pmdb -P N=64 -- ./sweep '{N}'
check "models" pmodel fit sweep.pmdb
before=$(sha256sum sweep.pmdb; ls)

# JSON [ARGUMENT]...: `pmodel validate` of the program, as JSON in the file validation.json.
json() { pmodel validate -q -s sweep.pmdb --format json "$@" -- ./sweep '{N}' 2>errors >../validation.json; }
# holds NAME FILTER: passes if the filter is true of validation.json.
holds() {
    if jq -e "$2" ../validation.json >/dev/null 2>&1; then pass "$1"; else fail "$1" "$(jq -c "$2" ../validation.json 2>&1 | head -c 300)"; fi
}
mkdir inside && cd inside && ln -s ../sweep ../sweep.pmdb .

json -P N=64
holds "the output is JSON of its kind" '.format == "pmodel-validation" and .version == 1'
holds "at a fitted size all executions are exact" \
    '.sizes[0].basic_blocks | .executed > 5 and .exact == .executed'
holds "at a fitted size accesses are met" \
    '[.sizes[0].summaries[] | select(.quantity == "accesses") | .program.worst] | length == 1 and max < 1e-6'
json -P N=128,256 --caches 8,64,4096
holds "two sizes, both beyond those fitted" '[.sizes[].extrapolation] == [2, 4]'
holds "counts of a regular program stay exact beyond" '.sizes[1].basic_blocks | .exact == .executed'
holds "each block size and cache size is compared" \
    '[.sizes[0].comparisons[] | select(.quantity == "misses") | [.block_bytes, .cache_blocks]]
     == [[64,8],[64,64],[64,4096],[4096,8],[4096,64],[4096,4096]]'
holds "rows add up to the program" \
    '[.sizes[0].comparisons[] | select(.quantity == "misses" or .quantity == "accesses")
      | (([.rows[].measured] | add) - .measured | fabs) < 0.5] | all'
holds "a measured figure is what run would have stored" \
    ".sizes[0].comparisons[] | select(.quantity == \"accesses\") | .measured ==
     $(pmodel run -q -o direct.pmdb --block 64,4096 -P N=128 -- ./sweep '{N}' >/dev/null 2>&1
       sqlite3 direct.pmdb 'select sum(accesses) from histogram where block_bytes = 64')"
holds "an error is relative to what was measured" \
    '[.sizes[].comparisons[] | select(.measured > 0)
      | ((.predicted - .measured) / .measured - .error | fabs) < 1e-9] | all'

holds "each figure has an interval, and the prediction is in it" \
    '[.sizes[] | .level == 0.8 and ([.comparisons[] | select(.predicted != null) | ., .rows[]
      | select(.predicted != null) | .low <= .predicted and .predicted <= .high] | all)] | all'
holds "an interval of exact counts has no width" \
    '[.sizes[].comparisons[] | select(.quantity == "accesses") | .low == .high] | all'
holds "coverage is counted for every quantity, and exact models are counted apart" \
    '[.sizes[] | [.intervals[].quantity] == ["edges", "accesses", "cold", "misses"]
      and (.intervals[0] | .exact >= 5 and .exact_right == .exact and .models == 0)
      and ([.intervals[] | .models as $n | .levels | [.[].level] == [0.5, 0.8, 0.95]
            and ([.[].inside] | . == sort and last <= $n)] | all)] | all'
json -P N=96 --no-memory
holds "without memory only counts are compared" \
    '[.sizes[0].comparisons[].quantity] | unique == ["executions", "iterations"]'
pmodel validate -q -s sweep.pmdb -P N=96 --keep kept.pmdb -- ./sweep '{N}' >table.txt 2>/dev/null
grep -q 'N=96: predicted by models of 7 runs up to N=64 (1.5x)' table.txt &&
    pass "the table says how far it goes" || fail "the table says how far it goes" "$(head -3 table.txt)"
grep -q '^ all models ' table.txt && grep -q '80% BETWEEN' table.txt &&
    pass "the table has intervals" || fail "the table has intervals" "$(head -30 table.txt)"
pmodel validate -s sweep.pmdb -P N=96 --keep kept.pmdb -- ./sweep '{N}' 2>&1 >/dev/null | grep >/dev/null '1 were there' &&
    pass "runs that were kept are not repeated" || fail "runs that were kept are not repeated"
pmodel validate -q -s sweep.pmdb -P N=96 --format csv -- ./sweep '{N}' 2>/dev/null | tr -d '\r' >out.csv
awk -F, 'NR == 1 { n = NF } NF != n { bad = 1 } END { exit bad || NR < 20 || n != 20 }' out.csv &&
    pass "CSV has a line for each figure" || fail "CSV has a line for each figure" "$(head -3 out.csv)"
cd ..
rm -f validation.json
if [ "$before" = "$(sha256sum sweep.pmdb; ls | grep -v '^inside$')" ]; then
    pass "the store with the models is unchanged, and nothing is left beside it"
else
    fail "the store with the models is unchanged, and nothing is left beside it" "$(ls)"
fi

check "runs with a machine's block sizes" \
    pmodel run -q -o machine.pmdb -m r12000,itanium2 -P N=16:64:8 -- ./sweep '{N}'
check "models of them" pmodel fit machine.pmdb
pmodel validate -q -s machine.pmdb -m r12000,itanium2 -P N=128 --format json -- ./sweep '{N}' \
    2>/dev/null >time.json
if jq -e '[.sizes[0].comparisons[] | select(.quantity == "seconds")] |
          [.[].machine] == ["r12000", "itanium2"] and ([.[].predicted, .[].measured] | min > 0)' \
    time.json >/dev/null; then
    pass "times are compared for each machine"
else
    fail "times are compared for each machine" "$(head -c 300 time.json)"
fi

expect_error "another program is refused" 2 'models of another program' \
    pmodel validate -q -s sweep.pmdb -P N=128 -- ./other '{N}'
expect_error "the store with the models is no place for the runs" 2 'only read' \
    pmodel validate -q -s sweep.pmdb --keep ./sweep.pmdb -P N=128 -- ./sweep '{N}'
expect_error "an unknown parameter is named" 2 'M' pmodel validate -q -s sweep.pmdb -P M=3 -- ./sweep '{M}'
expect_error "a block size without models is named" 2 'blocks of 128' \
    pmodel validate -q -s sweep.pmdb --block 128 -P N=128 -- ./sweep '{N}'
expect_error "a machine whose block sizes have no models" 2 'run -o sweep.pmdb -m r12000 .* and .pmodel fit' \
    pmodel validate -q -s sweep.pmdb -m r12000 -P N=128 -- ./sweep '{N}'
expect_error "cache sizes are numbers" 2 'caches' \
    pmodel validate -q -s sweep.pmdb --caches 8,x -P N=128 -- ./sweep '{N}'
expect_error "the store must be named" 2 '\-s' pmodel validate -P N=128 -- ./sweep '{N}'
expect_error "a run that fails is told" 2 'at least 4' \
    pmodel validate -q -s sweep.pmdb -P N=2 -- ./sweep '{N}'

# The paper's own partition, of the same runs: other models, and bounds that stay.
cp sweep.pmdb literal.pmdb
check "the paper's partition makes models" env PM_FIT_WITHOUT=partition pmodel fit literal.pmdb
check "they predict" pmodel validate -q -s literal.pmdb -P N=128 -- ./sweep '{N}'
models() { pmodel fit "$@" --models --format csv; }
if ! cmp -s <(models sweep.pmdb) <(PM_FIT_WITHOUT=partition models literal.pmdb); then
    pass "the two partitions make different models"
else
    fail "the two partitions make different models" "the models are the same"
fi
