# `pmodel query`: what it answers for the heat stencil is measured afterwards.
. "$TOP/tests/lib.sh"

# Each routine aligns its frame: which of what stands on the stack shares a block does not hang on the lengths of the
# environment and of paths then.
gcc -O3 -g -march=x86-64-v3 -mincoming-stack-boundary=4 -mpreferred-stack-boundary=6 $(pmodel flags) -o heat \
    "$TOP/bench/apps/heat/heat.c" -lm || exit 1
pmodel run -q -o heat.pmdb -m r12000 -P N=24,32,40,48,56,64 -- ./heat '{N}' >/dev/null || exit 1
check "misses of a measured size need no fit" pmodel query heat.pmdb -P N=64 --cache 32K
check "the smallest cache of a measured size needs no fit" pmodel query heat.pmdb --hit-ratio 0.9
expect_error "the largest size does" 2 'pmodel fit' pmodel query heat.pmdb --cache 32K --hit-ratio 0.9
pmodel fit heat.pmdb >/dev/null || exit 1

# query NAME JQ ARGUMENT...: what JQ makes of the answers
query() {
    local filter=$1
    shift
    pmodel query heat.pmdb --format json "$@" | jq -r "$filter"
}
# near NAME A B TOLERANCE: |A − B| ≤ TOLERANCE
near() {
    if awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { d = a - b; exit !(a != "" && d <= t && -d <= t) }'; then
        pass "$1"
    else
        fail "$1" "$2, not $3"
    fi
}

# ---- the same as the report ----
report=$(pmodel report heat.pmdb -m r12000 -P N=128 --format json |
    jq '[.predictions[0].rows[].self.misses.L2] | add')
near "misses are those of the report" \
    "$(query '.answers[1].misses / '"$report" -m r12000 -P N=128)" 1 1e-6
whole=$(query '.answers[0].misses' --cache 512K -P N=128)
for level in routine loop group; do
    near "parts at level $level add up to the whole" \
        "$(query "([.answers[].misses] | add) / $whole" --cache 512K -P N=128 --level $level)" 1 1e-9
done

# ---- what is answered, asked back ----
size=$(query '.answers[0].largest' --cache 256K --hit-ratio 0.91)
[ "$size" -gt 64 ] && [ "$size" -lt 200 ] && pass "a size beyond the measured ones" ||
    fail "a size beyond the measured ones" "$size"
here=$(query '.answers[0].hit_ratio' --cache 256K -P N=$size)
next=$(query '.answers[0].hit_ratio' --cache 256K -P N=$((size + 1)))
awk -v h="$here" -v n="$next" 'BEGIN { exit !(h >= 0.91 && n < 0.91) }' &&
    pass "it is the largest one" || fail "it is the largest one" "$here, then $next"
blocks=$(query '.answers[0].cache.blocks' --hit-ratio 0.91 -P N=$size)
near "the smallest cache at the largest size" \
    "$(query '.answers[0].hit_ratio >= 0.91 | if . then 1 else 0 end' --cache ${blocks}blocks -P N=$size)" 1 0
[ "$blocks" -le 4096 ] && pass "is no larger than the cache that was asked for" ||
    fail "is no larger than the cache that was asked for" "$blocks"
listed=$(query '.answers[0].largest' --cache 256K --hit-ratio 0.91 --range N=16,32,48,64,96,128)
[ "$listed" = 64 ] && pass "only sizes of a list are answers" ||
    fail "only sizes of a list are answers" "$listed, of all $size"

check "the interval of an answer is around it" jq -e \
    '.answers[0] | .interval.low <= .misses and .misses <= .interval.high and .interval.high < 8 * .misses' \
    <(pmodel query heat.pmdb --format json --cache 256K -P N=128)
check "a measured size has no interval" jq -e '.answers[0] | .interval == null and (.predicted | not)' \
    <(pmodel query heat.pmdb --format json --cache 256K -P N=64)
# ---- and measured: the hit ratio falls off a cliff there ----
pmodel run -q -o there.pmdb --block 64 -P N=$((size - 3)),$((size + 5)) -- ./heat '{N}' >/dev/null
there() { pmodel query there.pmdb --format json -P N=$1 --cache 256K | jq '.answers[0].hit_ratio'; }
below=$(query '.answers[0].hit_ratio' --cache 256K -P N=$((size - 3)))
near "below the largest size ($size) the hit ratio is as measured" "$(there $((size - 3)))" "$below" 0.005
awk -v b="$(there $((size - 3)))" -v a="$(there $((size + 5)))" 'BEGIN { exit !(b >= 0.91 && a < 0.91) }' &&
    pass "the largest size is where it is measured" ||
    fail "the largest size is where it is measured" "$(there $((size - 3))) then $(there $((size + 5)))"

# ---- what fits: planes in 32 KiB, up to N=32; both sides were measured ----
planes=$(query '.answers[0].steps[] | select(.distance_blocks | test("N\\^2")) | .up_to' \
    --fits --cache 32K --scope step/4)
near "four planes of 8-byte numbers fit 32 KiB up to N=32" "$planes" 32 1
misses() { query '.answers[0] | .misses / .accesses' --scope step/4 -P N=$1 --cache 32K; }
share=$(query '.answers[0].steps[0].share_of_accesses' --fits --cache 32K --scope step/4)
near "measured misses step up there by the share that is told" \
    "$(jq -n "$(misses 40) - $(misses 32)")" "$share" 0.012
# Every step of every loop and level (not of code outside loops, of few accesses) is one of predicted misses; where it is spread over sizes,
# shares change between its ends for other reasons, too.
query '.answers[] | select(.part.kind == "loop") | . as $a | .steps[]
    | select(.share_of_accesses > 0.01 and .all_hit_up_to != null and .some_hit_up_to != null
        and .some_hit_up_to < 1.1 * .all_hit_up_to)
    | "\($a.part.label)\t\($a.cache.blocks)\t\(.all_hit_up_to)\t\(.some_hit_up_to)\t\(.share_of_accesses)"' \
    --fits --cache 32K,1M,32M >steps.txt
while IFS=$'\t' read -r label cache all some share; do
    for n in "$all" $((some + 2)); do
        query '.answers[] | select(.part.label == "'"$label"'") | .misses / .accesses' \
            --level loop -P N=$n --cache ${cache}blocks
    done | paste -s -d ' ' | awk -v s="$share" -v what="$label $cache $all…$some" \
        '{ if ($2 - $1 < 0.7 * s) print what ": " $1 " to " $2 ", not by " s }'
done <steps.txt >wrong.txt
[ "$(wc -l <steps.txt)" -ge 5 ] && [ ! -s wrong.txt ] &&
    pass "misses step up at every size that is told" ||
    fail "misses step up at every size that is told" "$(wc -l <steps.txt) steps; $(cat wrong.txt)"
pmodel report heat.pmdb -m r12000 -P N=128 --fits >fits.txt
grep -q 'largest N at which reuses still hit' fits.txt && grep -q '^heat  N=128  on SGI' fits.txt &&
    pass "report --fits shows them below the report" ||
    fail "report --fits shows them below the report" "$(cat fits.txt)"

# ---- of two parameters one is solved for ----
cat >two.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(int c, char **v) {
    int n = atoi(v[c - 2]), m = atoi(v[c - 1]);
    double *a = calloc((size_t)n * m, 8), *b = calloc((size_t)n * m, 8), s = 0;
    for (int t = 0; t < 3; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 0; j < m; j++)
                b[i * m + j] = a[(i - 1) * m + j] + a[i * m + j] + a[(i + 1) * m + j];
    for (int i = 0; i < n * m; i++) s += b[i];
    printf("%g\n", s);
}
C
gcc -O2 -g $(pmodel flags) -o two two.c
pmodel run -q -o two.pmdb --block 64 -P N=24,40,56,72,88 -P M=32,64,96,128,160 -- ./two {N} {M} >/dev/null
pmodel fit two.pmdb >/dev/null
fit_two() {
    pmodel query two.pmdb --fits --cache 32K --scope main/3 --format json "$@" |
        jq '[.answers[0].steps[].up_to] | '"$filter"
}
# Four rows of M numbers, and two arrays of N times M, in 4096 numbers.
near "rows of M numbers fit up to M, whatever N" "$(filter=max fit_two -P N=64)" 1024 16
near "two arrays fit up to M" "$(filter=min fit_two -P N=64)" 32 2
near "and up to N" "$(filter=min fit_two -P M=64)" 32 2
expect_error "of two parameters one must be given" 2 'functions of M, N: give all but one' \
    pmodel query two.pmdb --fits --cache 32K

# ---- answers that there are not ----
pmodel query heat.pmdb --cache 4K --hit-ratio 0.9999 >none.txt
grep -q 'even an unlimited cache has' none.txt && pass "an unreachable hit ratio is said to be so" ||
    fail "an unreachable hit ratio is said to be so" "$(cat none.txt)"
[ "$(query '.answers[0] | [.found, .cache.blocks] | @csv' --hit-ratio 0.9999 -P N=64)" = '"none",' ] &&
    [ "$(query '.answers[0].found' --hit-ratio 1 -P N=64 --no-cold)" = found ] &&
    pass "without first touches every ratio has a cache" ||
    fail "without first touches every ratio has a cache" "$(query . --hit-ratio 1 -P N=64 --no-cold)"
[ "$(query '.answers[0].found' --cache 1G --hit-ratio 0.5)" = beyond_range ] &&
    pass "a size beyond the range is told" || fail "a size beyond the range is told"

# ---- tables ----
n=$(pmodel query heat.pmdb -P N=64:128:32 --cache 32K:256K --format csv | wc -l)
[ "$n" = 13 ] && pass "ranges give a table" || fail "ranges give a table" "$n lines"
check "a machine's levels are its caches" sh -c \
    '[ "$(pmodel query heat.pmdb -P N=64 -m r12000 --format json | jq -c "[.answers[].cache.name]")" = "[\"L1\",\"L2\",\"TLB\"]" ]'

# ---- what is no question ----
q() { expect_error "$1" 2 "$2" pmodel query heat.pmdb "${@:3}"; }
q "no cache and no hit ratio" 'give caches' -P N=64
q "everything is given" 'N is given' -P N=64 --cache 32K --hit-ratio 0.9
q "not a cache" 'cache takes sizes.*not "32X"' --cache 32X
q "part of a block" 'whole number of blocks' --cache 100
q "caches downwards" '4M:16K: the range descends' --cache 4M:16K
q "a cache of nothing" 'not "0"' --cache 0
q "no cache between commas" 'not ""' --cache 1K,,2K
q "a hit ratio above 1" 'hit-ratio takes ratios.*not "99"' --hit-ratio 99
q "a hit ratio of 0" 'not "0"' --hit-ratio 0
q "a hit ratio that is a word" 'not "high"' --hit-ratio high
q "an unknown scope" 'no routine or loop.*"stop"' --cache 32K --scope stop
q "an unknown level" 'level is program' --cache 32K --level line
q "a block size that was not measured" 'blocks of 2048 bytes' --cache 32K --block 2048
q "an unknown parameter" 'no parameter "M"' -P M=3 --cache 32K
q "a range of another parameter" 'range is of M' --range M=1:10 --cache 32K --hit-ratio 0.9
q "a range downwards" 'N=10:1: the range descends' --range N=10:1 --cache 32K --hit-ratio 0.9
q "a range from nothing" 'range takes' --range N=0:10 --cache 32K --hit-ratio 0.9
q "a range without end" 'range takes' --range N=1:1e300 --cache 32K --hit-ratio 0.9
q "a range where no size is asked" 'range is for' --range N=1:10 --cache 32K
q "first touches where no ratio is asked" 'no-cold needs --hit-ratio' --no-cold --cache 32K
q "what fits, and a hit ratio" 'exclude each other' --fits --hit-ratio 0.9 --cache 32K
q "what fits, nowhere" 'give caches' --fits
q "what fits at a given size" 'N is given' --fits --cache 32K -P N=64
q "scopes of the program" 'exclude each other' --scope step --level program --cache 32K
q "a size that is none" 'must be above 0' -P N=-3 --cache 32K
q "two stores" 'give one store' --cache 32K heat.pmdb
