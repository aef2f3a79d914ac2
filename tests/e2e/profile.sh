# `pmodel run --profile` and `pmodel show --as profile`: operations, references and strides of loops whose counts are known by hand, of code with
# masks too; hit rates beside cachegrind's; what a store has already; and what cannot be.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"
# shellcheck source=tests/truth/machine_of_caches.bash
. "$TOP/tests/truth/machine_of_caches.bash"

cat >loops.c <<'END_OF_C'
#include <stdlib.h>
enum { N = 1 << 14 };
double a[8 * N], b[N], sum[1];
int index_of[N];
__attribute__((noipa)) void stride_one(void) { for (int i = 0; i < N; i++) b[i] = b[i] * 3 + 1; }
__attribute__((noipa)) void stride_four(void) { double s = 0; for (int i = 0; i < N; i++) s += a[4 * i]; sum[0] = s; }
__attribute__((noipa)) void stride_eight(void) { double s = 0; for (int i = 0; i < N; i++) s -= a[8 * i]; sum[0] = s; }
__attribute__((noipa)) void gather(void) { double s = 0; for (int i = 0; i < N; i++) s += a[index_of[i]]; sum[0] = s; }
__attribute__((noipa)) void stands(void) { for (int i = 0; i < N; i++) { ((volatile double *)sum)[0] = i; } }
int main(void) {
    unsigned long x = 1;
    for (int i = 0; i < N; i++) { x = x * 6364136223846793005ul + 1442695040888963407ul; index_of[i] = x >> 40 & (8 * N - 1); }
    stride_one(); stride_four(); stride_eight(); gather(); stands();
    return 0;
}
END_OF_C
# shellcheck disable=SC2046 # the flags are words
gcc -O1 -g $(pmodel flags) -o loops loops.c || fail "the program builds"
machine_of_caches small.conf 'size = 32KiB  ways = 8' 'size = 256KiB  ways = 16  replacement = fifo'
check "a run is profiled" pmodel run -q -o loops.pmdb --profile --simulate ./small.conf -- ./loops
pmodel show --as profile loops.pmdb --format json >loops.json

# block ROUTINE FILTER: of the basic block of the routine with most references.
block() {
    jq -e --arg name "$1" "[.blocks[] | select(.label | startswith(\$name + \"/\"))] | max_by(.references) | $2" loops.json >/dev/null
}
check "JSON has its format" jq -e '.format == "pmodel-profile" and .version == 1 and .stride_window == 8 and (.levels | length == 2)' loops.json
check "strides of one element" block stride_one '.references == 32768 and .stride_0 >= 0.49 and .stride_0 <= 0.51 and .stride_1 > 0.49 and .flops == 32768'
check "of four" block stride_four '.references == 16384 and .stride_4 > 0.999 and .flops_per_reference == 1'
check "of eight" block stride_eight '.stride_8 > 0.999'
check "of none, which is random" block gather '.references == 32768 and .stride_random > 0.45 and .stride_random <= 0.5 and .stride_1 > 0.49'
check "of what stands" block stands '.references == 16384 and .stride_0 > 0.999 and .flops == 0'
check "the mix is dynamic" block stride_four '.mix.fp_add == 16384 and .mix.branch == 16384'
check "hits of a stream: one miss a line" block stride_one \
    '.hits[0].misses == 2048 or .hits[0].misses == 2049'
check "of eight elements: each misses" block stride_eight '.hits[0].hit_rate < 0.01'
check "the table has the paper's columns" sh -c "pmodel show --as profile loops.pmdb --wide | grep -q 'CUM %  *%  FLOPS/MOPS  RANDOM  L1 HIT %  L2 HIT %'"
check "the table of strides" sh -c "pmodel show --as profile --strides loops.pmdb --wide | grep -q 'gather/1'"
check "the table of the mix" sh -c "pmodel show --as profile --mix loops.pmdb --wide | grep -q 'ARITH/MOPS'"
check "blocks with random references only" sh -c "! pmodel show --as profile --random loops.pmdb --format json | jq -e '.blocks[] | select(.stride_random == 0)'"
check "CSV has a line a block and level" sh -c "pmodel show --as profile loops.pmdb --format csv | head -1 | grep -q '^label,block,.*,hit_rate_1,hit_rate_2,hit_rate_3,hit_rate_4'"

# What the store has is not measured again, but with another window or other machines.
again() { pmodel run -o loops.pmdb --profile "$@" -- ./loops 2>&1 | grep 'there already'; }
check "a profile that is there" sh -c "$(declare -f again); again --simulate ./small.conf | grep -q '0 measured, 1 were there already'"
check "with another window" sh -c "$(declare -f again); again --simulate ./small.conf --stride-window 2 | grep -q '1 measured'"
check "with other machines" sh -c "$(declare -f again); again --stride-window 2 | grep -q '1 measured'"
check "a profile without caches" sh -c "pmodel show --as profile loops.pmdb --wide | grep -q 'FLOPS/MOPS  RANDOM *\$'"
check "beside reuse distances" pmodel run -q -o both.pmdb --profile --block 64 -- ./loops
check "both are there" sh -c "pmodel show --as profile both.pmdb --wide | grep -q gather && pmodel show --as histograms both.pmdb --format csv | grep -q 64"
# Which sets of the caches the stack is in changes from run to run.
same_loops='[.blocks[] | select(.label | test("^(gather|stride)")) | del(.hits)]'
pmodel run -q -o second.pmdb --profile --second-core --simulate ./small.conf -- ./loops
check "the same beside the program" sh -c "pmodel show --as profile second.pmdb --format json | jq -c '$same_loops' >second.json && jq -c '$same_loops' loops.json | cmp - second.json"

# Of the elements under a mask those that are active count.
if grep -qw avx512vl /proc/cpuinfo; then
    cat >masked.c <<'END_OF_C'
#include <immintrin.h>
enum { N = 1 << 12 };
double a[N + 8], b[N + 8];
__attribute__((noipa)) void some(__mmask8 k) {
    for (int i = 0; i < N; i += 8)
        _mm512_mask_storeu_pd(b + i, k, _mm512_maskz_add_pd(k, _mm512_maskz_loadu_pd(k, a + i), _mm512_maskz_loadu_pd(k, b + i)));
}
int main(void) { some(0x07); return 0; }
END_OF_C
    # shellcheck disable=SC2046
    gcc -O2 -g -mavx512f -mavx512vl $(pmodel flags) -o masked masked.c && pmodel run -q -o masked.pmdb --profile -- ./masked
    check "three of eight elements are active" sh -c "pmodel show --as profile masked.pmdb --format json |
        jq -e '[.blocks[] | select(.label | startswith(\"some/\"))] | max_by(.flops) | .flops == 512 * 3 and .masked_flops == 0'"
fi

# A product of matrices has 2 N^3 operations, beside five of the check.
cp "$BUILD/apps/matmul" . 2>/dev/null || gcc -O3 -g -march=x86-64-v3 -o matmul "$TOP/bench/apps/matmul/matmul.c" -lm
pmodel run -q -o matmul.pmdb --profile --simulate ./small.conf -P N=64 -- ./matmul '{N}' ikj >/dev/null
check "a product of matrices has 2 N^3 operations" sh -c "pmodel show --as profile matmul.pmdb --format json |
    jq -e '[.blocks[] | select(.label | startswith(\"multiply_ikj\")) | .flops] | add | . == 2 * 64 * 64 * 64'"

# D1 of cachegrind.  It takes the operand of a packed multiply-add for as many loads as it has elements, and simulates libraries, too: so
# misses of the program's own code are compared, over the references that were profiled.
apps=$TOP/bench/apps time_limit=60
say() { echo "$*" >&2; }
# shellcheck source=bench/lib/cachegrind.bash
. "$TOP/bench/lib/cachegrind.bash"
cp "$BUILD/apps/heat" .
pmodel run -q -o heat.pmdb --profile --simulate ./small.conf -- ./heat 36 5 >/dev/null
count_misses 32768,8,64 262144,16,64 ./heat 36 5 >cachegrind.json
check "the first cache hits as cachegrind's within 0.1 points" sh -c "pmodel show --as profile heat.pmdb --format json |
    jq -e --slurpfile cg cachegrind.json '.total | (.hits[0].misses - \$cg[0].first) / .references | fabs < 0.001'"

expect_error "a store without a profile" 2 'has no profile of basic blocks: `pmodel run --profile' pmodel show --as profile "$(
    pmodel run -q -o plain.pmdb --block 64 -- ./loops >/dev/null 2>&1
    echo plain.pmdb
)"
expect_error "a size that was not run" 2 'no run with N=7' pmodel show --as profile -P N=7 loops.pmdb
expect_error "no store" 2 'no such store' pmodel show --as profile nothing.pmdb
expect_error "two tables at once" 2 '\-\-strides and --mix exclude each other' pmodel show --as profile --mix --strides loops.pmdb
machine_of_caches none.conf
expect_error "a machine without caches" 2 'no caches to simulate|cache' pmodel run -o x.pmdb --profile --simulate ./none.conf -- ./loops
expect_error "a machine twice" 2 'small twice' pmodel run -o x.pmdb --profile --simulate ./small.conf,./small.conf -- ./loops
expect_error "caches to simulate without a profile" 2 'simulate needs --profile' pmodel run -o x.pmdb --simulate ./small.conf -- ./loops
expect_error "a window of none" 2 'stride-window' pmodel run -o x.pmdb --profile --stride-window 0 -- ./loops
expect_error "a window of too many" 2 'up to 4096' pmodel run -o x.pmdb --profile --stride-window 5000 -- ./loops
expect_error "a profile of several builds" 2 'profile and --build exclude each other' pmodel run -o x.pmdb --profile --build true -- ./loops
