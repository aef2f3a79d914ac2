# Answers that may be far off say so before their figures: parameters that are not what models should
# be functions of, that reach no run or change nothing; few and smaller sizes; poor models; work in
# libraries that are not measured.
# time limit: 600 s
. "$TOP/tests/lib.sh"

# shellcheck disable=SC2046
build_once multigrid "$TMP/multigrid" gcc -O2 -g $(pmodel flags) -o multigrid \
    "$TOP/bench/apps/multigrid/multigrid.c" -lm
# The wrapper takes the number of grids, as the input of such codes does; the program follows from N.
cat >wrapper.sh <<'END'
#!/bin/sh
test $((1 << $2)) -eq "$1" && exec ./multigrid "$1" 2
END
chmod +x wrapper.sh

# measure STORE ARGUMENTS...: runs of the multigrid code, both parameters on its command line.
measure() {
    local store=$1
    shift
    pmodel run -q -o "$store" --block 64 --exe ./multigrid "$@" -- ./wrapper.sh '{N}' '{L}' \
        >/dev/null
}

# misses STORE: of 64 KiB at N=128.
misses() {
    pmodel query "$1" -P N=128 --cache 64K --format json | jq '.answers[0].misses'
}

# kinds JSON: of its warnings, in one line.
kinds() {
    jq -r '[.warnings[].kind] | unique | join(" ")' "$1"
}

# ---- which parameter ------------------------------------------------------------------------------

measure formula.pmdb -P N=8,16,32,64 -P 'L=log2(N)'
measure values.pmdb -P N,L=8:3,16:4,32:5,64:6
pmodel run -q -o alone.pmdb --block 64 -P N=8,16,32,64 -- ./multigrid '{N}' 2 >/dev/null
pmodel run -q -o there.pmdb --block 64 -P N=128 -- ./multigrid '{N}' 2 >/dev/null
for store in formula values alone; do pmodel fit $store.pmdb --format json >$store.json; done
role() {
    jq -r ".summary.parameters[] | select(.name == \"$2\") | .role" "$1.json"
}
check "a parameter given as values stands above one given as a formula of it" \
    test "$(role formula N) $(role formula L)" = "taken formula"
check "the formula is in the store" \
    test "$(jq -r '.summary.parameters[] | select(.name == "L") | .formula' formula.json)" = 'log2(N)'
check "of two given as values what was measured decides" \
    test "$(role values N) $(role values L)" = "taken worse"
check "and fit says by how much" jq -e '.summary.parameters | map({(.name): .error}) | add |
    .L > 0.5 and .N < 0.2' values.json
check "in words, too" sh -c "pmodel fit values.pmdb | tr -s ' \n' ' ' |
    grep -q 'functions of N not of L, which goes with N: .* off by [0-9.]*% in L, by [0-9.]*% in N'"
measured=$(misses there.pmdb)
for store in formula values alone; do
    predicted=$(misses $store.pmdb)
    check "misses at twice the size, $store: $predicted of $measured" \
        jq -en "($predicted / $measured - 1) | fabs < 0.05"
    model=$(pmodel report --as formulas $store.pmdb -P N=128 --level program --format json | jq '.rows[0].count')
    check "instructions at twice the size, $store: $model, as with N alone" \
        jq -en "($model / $(pmodel report --as formulas alone.pmdb -P N=128 --level program --format json |
            jq '.rows[0].count') - 1) | fabs < 0.001"
done
pmodel fit --in L values.pmdb --format json >asked.json
check "--in asks for another" test "$(role asked L) $(role asked N)" = "taken not_asked"
check "whose models are poor, which stands first" sh -c \
    "pmodel query values.pmdb -P L=7 --cache 64K | head -n 1 | grep -q '^warning: .*poor'"
check "of any answer" test "$(kinds asked.json)" = "few_sizes poor_models"
check "on the error stream of CSV" sh -c \
    "pmodel query values.pmdb -P L=7 --cache 64K --format csv 2>&1 >/dev/null | grep -q 'warning: .*poor'"
expect_error "--in takes what there is" 2 'what --in names' pmodel fit --in X values.pmdb

# ---- what changes nothing -------------------------------------------------------------------------

cat >idle.c <<'END'
#include <stdlib.h>
int main(int argc, char **argv) {
    int n = atoi(argv[1]), seed = atoi(argv[argc - 1]);
    double *a = calloc((size_t)n, sizeof *a), sum = seed;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            sum += a[k] + i;
    return sum == 7;
}
END
# shellcheck disable=SC2046
gcc -O1 -g $(pmodel flags) -o idle idle.c
pmodel run -q -o idle.pmdb --block 64 -P N=40:80:8 -P SEED=1,2 -- ./idle '{N}' '{SEED}'
pmodel fit idle.pmdb --format json >idle.json
check "a parameter that changes nothing is named and left out" \
    test "$(role idle N) $(role idle SEED)" = "taken idle"
check "any value of it may be asked for" pmodel query idle.pmdb -P N=128 -P SEED=9 --cache 1K
pmodel run -q -o equal.pmdb --unused N --block 64 -P N=100,200,400 -- ./idle 10 0
pmodel fit equal.pmdb --format json >equal.json
check "equal counts at all sizes are said" sh -c \
    "pmodel query equal.pmdb -P N=100000 --cache 1K | head -n 1 | grep -q 'does not seem to take N'"
check "by fit, too, with few sizes" jq -e '[.warnings[].kind] | contains(["equal_counts", "few_sizes"])' equal.json

# ---- sizes ----------------------------------------------------------------------------------------

pmodel run -q -o sizes.pmdb --block 64 -P N=40,48,56 -- ./idle '{N}' 0
pmodel fit sizes.pmdb >fit.out
check "three sizes are few" grep -q '^warning: .*3 values of N' fit.out
pmodel run -q -o sizes.pmdb --block 64 -P N=64,72,80 -- ./idle '{N}' 0
pmodel fit sizes.pmdb >fit.out
check "six are not" sh -c '! grep "values of N" fit.out'
pmodel query sizes.pmdb -P N=10 --cache 1K --format json >below.json
check "a size below the smallest is extrapolated" jq -e '.answers[0].extrapolation == 4' below.json
check "and said first" jq -e '[.warnings[].kind] | contains(["below_measured"])' below.json
pmodel query sizes.pmdb -P N=44 --cache 1K --format json >inside.json
check "one between is not" jq -e '.answers[0].extrapolation == 1 and
    ([.warnings[].kind] | contains(["below_measured"]) | not)' inside.json

pmodel query sizes.pmdb -P N=1000 --cache 1K --format json >far.json
check "a size far beyond all is said to be" jq -e '[.warnings[].kind] | contains(["far"])' far.json
pmodel query sizes.pmdb -P N=160 --cache 1K --format json >near.json
check "one of twice the largest is not" jq -e '[.warnings[].kind] | contains(["far"]) | not' near.json

# ---- libraries ------------------------------------------------------------------------------------

cat >work.c <<'END'
double work(int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int k = 1; k < 100000; k++)
            sum += 1.0 / k;
    return sum;
}
END
cat >user.c <<'END'
#include <stdio.h>
#include <stdlib.h>
double work(int n);
int main(int argc, char **argv) {
    (void)argc;
    FILE *log = fopen("log", "a");
    fputs("run\n", log);
    fclose(log);
    return work(atoi(argv[1])) < 0;
}
END
gcc -O2 -g -shared -fPIC -o libwork.so work.c
gcc -O2 -g -o user user.c -L. -lwork -Wl,-rpath,"\$ORIGIN"
machine=icelake-sp
pmodel run -q --outside -o outside.pmdb -P N=500 -- ./user '{N}'
check "one more run tells where the time goes" test "$(wc -l <log)" = 2
pmodel report outside.pmdb -m $machine --format json >outside.json
check "work in a library that is not measured is said, with its share" jq -e \
    '.warnings[] | select(.kind == "outside") | .share > 0.9' outside.json
check "and what would measure it" jq -e \
    '.warnings[] | select(.kind == "outside") | .text | contains("--lib libwork.so")' outside.json
check "before the figures" sh -c \
    "pmodel report outside.pmdb -m $machine | head -n 1 | grep -q '^warning: .*libwork.so'"
rm log
pmodel run -q -o once.pmdb -P N=500 -- ./user '{N}'
check "unless it is asked for, each size is run once" test "$(wc -l <log)" = 1
pmodel report once.pmdb -m $machine --format json >once.json
check "and the share of a library's time is said to be unknown, with its name" jq -e \
    '.warnings[] | select(.kind == "unknown") | .share == null and (.text | contains("--lib libwork.so"))' once.json
pmodel run -q -o inside.pmdb --lib libwork -P N=500 -- ./user '{N}'
check "a library that is measured is not outside" sh -c \
    "! pmodel report inside.pmdb -m $machine | grep warning:"
