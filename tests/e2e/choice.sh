# What is measured of a program: lists of routines, and counters placed by an earlier profile.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"
truth_tool block_counts || fail "the tool that reads stores builds" "see above"

cat >program.c <<'P'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static long hot_sum(const long *v, long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += v[i] & 1 ? v[i] : -v[i];
    return sum;
}
__attribute__((noinline)) static long hot_top(const long *v, long n) {
    long top = 0;
    for (long i = 0; i < n; i++)
        if (v[i] > top)
            top = v[i];
    return top;
}
__attribute__((noinline)) static void cold_fill(long *v, long n) {
    for (long i = 0; i < n; i++)
        v[i] = i * i % 1009;
}
int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 10, *v = malloc((size_t)n * sizeof *v);
    cold_fill(v, n);
    printf("%ld %ld\n", hot_sum(v, n), hot_top(v, n));
    free(v);
    return 0;
}
P
gcc -O2 -g -o program program.c

# counted STORE: names of the routines that ran and were counted.
counted() {
    ./block_counts "$1" N=100 | awk '$1 == "block" && $4 > 0 { print $5 }' | sort -u | tr '\n' ' '
}
measure() { # STORE OPTION...
    local store=$1
    shift
    pmodel run -q -o "$store" -P N=100 "$@" -- ./program '{N}' >"$store.out" 2>"$store.errors"
}

measure all.pmdb
check "the program prints what it prints" test "$(cat all.pmdb.out)" = "$(./program 100)"
printf '# the two that matter\nhot_*\n\ncold_fill # and this\n' >include
printf 'hot_top\n' >exclude
measure included.pmdb --include include
measure excluded.pmdb --exclude exclude
measure both.pmdb --include include --exclude exclude
expect_counted() { # NAME STORE NAMES
    local names
    names=$(counted "$2")
    if [ "$names" = "$3" ]; then pass "$1"; else fail "$1" "counted: $names ($(cat "$2.errors"))"; fi
}
expect_counted "only what is included is counted" included.pmdb "cold_fill hot_sum hot_top "
expect_counted "what is both included and excluded is not" both.pmdb "cold_fill hot_sum "
names=$(counted excluded.pmdb)
if [[ " $names" != *" hot_top "* && " $names" == *" main "* ]]; then
    pass "what is excluded is not counted, the rest is"
else
    fail "what is excluded is not counted, the rest is" "counted: $names"
fi
./block_counts all.pmdb N=100 | grep ^block >all.blocks
./block_counts both.pmdb N=100 | grep ^block | awk '$4 > 0' >both.blocks
check "counts of what is left are the same" awk '
    NR == FNR { seen[$0] = 1; next }
    { n++; if (!seen[$0]) bad++ }
    END { exit bad || !n }' all.blocks both.blocks
expect_error "other routines need another store" 2 'hot_top was counted' \
    pmodel run -q -o all.pmdb --again -P N=100 --exclude exclude -- ./program '{N}'
echo nobody >names
expect_error "a name that no routine has is told with its line" 2 'names:1: no routine is called nobody' \
    pmodel run -q -o none.pmdb -P N=100 --include names -- ./program '{N}'
expect_error "a list that is not there" 2 'absent' \
    pmodel run -q -o none.pmdb -P N=100 --exclude absent -- ./program '{N}'

# ---- weights ----
measure again.pmdb --weights all.pmdb
./block_counts again.pmdb N=100 | grep ^block >again.blocks
check "counters by an earlier profile count the same" cmp all.blocks again.blocks
check "and their runs belong to the same store" pmodel run -q -o all.pmdb --weights all.pmdb -P N=200 \
    -- ./program '{N}'
gcc -O1 -g -o program program.c
check "a profile of another build serves too" measure other.pmdb --weights all.pmdb
expect_error "a store that is not there" 2 'absent.pmdb' \
    pmodel run -q -o none.pmdb -P N=100 --weights absent.pmdb -- ./program '{N}'
