# `pmodel run --sample` and `--max-blocks`: what a program's histograms have then; and that each is
# part of what a run was made with.
. "$TOP/tests/lib.sh"

cat >sweeps.c <<'END'
/* 20,000 blocks of 64 bytes one after the other, four times: 80,000 stores. */
static volatile char data[20000 * 64] __attribute__((aligned(4096)));
__attribute__((noipa)) static void sweep(void) {
    for (long i = 0; i < 20000; i++)
        data[64 * i] = 1;
}
int main(void) {
    for (int pass = 0; pass < 4; pass++)
        sweep();
    return 0;
}
END
check "sample, bound: the program compiles" \
    gcc -O2 -g -fno-tree-vectorize -fno-unroll-loops -o sweeps sweeps.c || exit

# measured NAME OPTION...: the sweep's stores into NAME.json
measured() {
    local name=$1
    shift
    pmodel run -q -o "$name.pmdb" --block 64 "$@" -- ./sweeps &&
        pmodel show --as histograms "$name.pmdb" --routine sweep >"$name.all" &&
        jq '[.runs[].histograms[] | select(.group.stores == 1 and
            (.group.pushed or .group.stack | not))][0]' "$name.all" >"$name.json"
}

is() {
    [ "$2" = "$3" ] && pass "$1" || fail "$1" "\"$2\" is not \"$3\""
}

all='.cold_stores + (.beyond.stores // 0) + ([.bins[].stores] | add // 0)'

check "a bounded run" measured bounded --max-blocks 1000
is "what is behind the bound is told apart from first touches" \
    "$(jq -c '[.cold_stores, .beyond.stores, .beyond.at_least, (.bins | length)]' bounded.json)" \
    '[20000,60000,1000,0]'
check "a bound that is not reached" measured unbounded --max-blocks 30000
is "nothing is beyond a bound that is not reached" \
    "$(jq -c "[.cold_stores, .beyond.stores, $all]" unbounded.json)" '[20000,0,80000]'

check "a sampled run" measured sampled --sample 1/16
is "a sampled run tells its sample" "$(jq .sample sampled.json)" 16
is "a sampled run knows how many accesses there were" "$(jq "$all" sampled.json)" 80000
# 1,250 of the 20,000 blocks are watched in the mean; five standard deviations are 14 %.
check "misses of a sampled run are near the true ones" jq -e '
    def near(a; b): (a - b) * (a - b) < 0.14 * 0.14 * b * b;
    near(.cold_stores; 20000) and near([.bins[] | select(.low > 15000) | .stores] | add; 60000) and
    ([.bins[] | select(.low > 0) | .low] | min > 16000) and
    ([.bins[] | .high] | max < 24000)' sampled.json
check "the note of a sampled run has no complaint" bash -c '! grep -qi "could not be read" sampled.all'

check "--sample and --max-blocks are part of what a run was made with" bash -c '
    pmodel run -o twice.pmdb --block 64 --sample 1/4 -- ./sweeps 2>err.txt &&
        grep -q "1 measured" err.txt &&
    pmodel run -o twice.pmdb --block 64 --sample 1/4 -- ./sweeps 2>err.txt &&
        grep -q "1 were there already" err.txt &&
    pmodel run -o twice.pmdb --block 64 --sample 1/8 -- ./sweeps 2>err.txt &&
        grep -q "1 measured" err.txt &&
    pmodel run -o twice.pmdb --block 64 --max-blocks 99 -- ./sweeps 2>err.txt &&
        grep -q "1 measured" err.txt &&
    pmodel run -o twice.pmdb --block 64 --sample 1/1 -- ./sweeps 2>err.txt &&
        grep -q "1 measured" err.txt &&
    pmodel run -o twice.pmdb --block 64 -- ./sweeps 2>err.txt &&
        grep -q "1 were there already" err.txt'

for sample in 64 1/0 1/-2 1/x 1/ 2/3 1/3.5 1/2000000 1/99999999999999999999 ''; do
    expect_error "--sample '$sample' is refused" 2 'from 1/1 to' \
        pmodel run -o bad.pmdb --sample "$sample" -- ./sweeps
done
for most in 0 -1 1e6 many 4294967296 ''; do
    expect_error "--max-blocks '$most' is refused" 2 'whole number of at least 1' \
        pmodel run -o bad.pmdb --max-blocks "$most" -- ./sweeps
done
expect_error "--sample without memory" 2 'no-memory and --sample exclude each other' \
    pmodel run -o bad.pmdb --no-memory --sample 1/4 -- ./sweeps
