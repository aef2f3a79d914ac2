# Strides, of the compiler and of the code alone, are those of a trace that valgrind's lackey makes. A choice of
# the applications; `make validate` has them all.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

truth_tool check_strides || {
    fail "check_strides builds"
    exit
}

while read -r app arguments; do
    # shellcheck disable=SC2086 # several arguments
    { truth_app "$app" -no-pie && truth_lackey "$app" $arguments; } >"$app.out" 2>&1 || {
        fail "$app builds and runs" "$(tail -3 "$app.out")"
        continue
    }
    show "strides of $app are those of a trace" ./check_strides "$app" "$app.lackey"
done <<'APPS'
heat 8 2
cg 6 1
fft 16 1
APPS

# The comparison itself: addresses that move otherwise are seen.
awk '/^ [LSM]/ && NR % 5 == 0 { $2 = "1" $2; print " " $0; next } { print }' heat.lackey >wrong.lackey
expect_error_output() {
    ./check_strides heat wrong.lackey >wrong.out
    [ $? -eq 3 ] && grep -q 'not explained' wrong.out
}
check "other steps are seen to differ" expect_error_output

# ---- values, measured ----------------------------------------------------------------------------

# A nest of known strides, through a call: its levels come back, at each size and with each way to analyse.
cat >nest.c <<'END'
#include <stdlib.h>
static double sum;
__attribute__((noipa)) static void row(const double *a, int n, int apart) {
    for (int j = 0; j < n; j++)
        sum += a[(long)j * apart];
}
__attribute__((noipa)) static void planes(const double *a, int n) {
    for (int pass = 0; pass < 3; pass++)
        for (int k = 0; k < 5; k++)
            for (int i = 0; i < n; i++)
                row(a + (long)k * n * n + i, n, n);
}
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 10;
    double *a = calloc(5 * (size_t)n * n, sizeof *a);
    planes(a, n);
    return sum != 0;
}
END
check "strides: the nest compiles and runs" bash -c '
    gcc -O2 -g -fno-tree-vectorize -fno-unroll-loops -o nest nest.c &&
    pmodel run -q -o nest.pmdb -P N=12,40,200 -- ./nest {N} &&
    pmodel run -q -o several.pmdb --second-core -P N=200 -- ./nest {N} &&
    PMODEL_ACCESSES=1 pmodel run -q -o single.pmdb -P N=12,40 -- ./nest {N}' || exit

# levels STORE N: stride and count of each level of the load in the loop of `row`.
levels() {
    pmodel show --as strides "$1" -P "N=$2" --routine row |
        jq -r '[.runs[0].references[] | select(.label != "row") | .levels[] | "\(.stride_bytes)x\(.count)"] | join(" ")'
}

# has STORE N LEVELS: LEVELS are those of the load, or the first of them.
has() {
    levels "$1" "$2" | grep -q "^$3\( .*\)\?$" || { levels "$1" "$2"; false; }
}

for n in 12 40; do
    for store in nest single; do
        check "strides: $store, N=$n: columns, rows of columns, planes, passes" \
            has $store.pmdb $n "$((8 * n))x$n 8x$n $((8 * n * n))x5 0x3"
    done
done
check "strides: more than a window holds" has nest.pmdb 200 "1600x200 8x200 320000x5"
check "strides: pieces on other threads" has several.pmdb 200 "1600x200 8x200"
