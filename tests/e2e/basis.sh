# `pmodel fit --basis` and `--search`: formulas are of the functions that are given, mistakes are pointed at, and a store whose
# fit fails keeps its models.
. "$TOP/tests/lib.sh"

cat >halves.c <<'C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static long halve(long n) {
    long steps = 0;
    for (long i = 0; i < n; i++)
        for (long k = n; k > 1; k /= 2)
            steps += k & i;
    return steps;
}
__attribute__((noinline)) static long square(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            sum += i ^ j;
    return sum;
}
int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 0;
    printf("%ld\n", halve(n) + square(n));
    return 0;
}
C
build() { gcc -O1 -g $(pmodel flags) -o halves halves.c; }
check "the program builds" build
check "runs at six sizes" pmodel run -q -o halves.pmdb --block 64 -P N=16,32,64,128,256,512 -- ./halves '{N}'

# iterations LABEL OPTION...: the formula of a loop's iterations.
iterations() {
    local label=$1
    shift
    pmodel fit "$@" --models --format json halves.pmdb |
        jq -r --arg name "$label" '.models[] | select(.quantity == "iterations" and .label == $name) | .formula'
}
loop_of() { # ROUTINE DEPTH: its label
    pmodel fit --models --format json halves.pmdb |
        jq -r --arg prefix "$1/$2" '[.models[] | select(.quantity == "iterations" and (.label | startswith($prefix)))][0].label'
}
is() { [ "$1" = "$2" ] || { echo "\"$1\" is not \"$2\""; return 1; }; }
halving=$(loop_of halve 2) squaring=$(loop_of square 2)

check "a basis for all: the halving loop" is "$(iterations "$halving" --basis '1, N, N^2, N*log2(N)')" 'N*log2(N)'
check "a basis for all: the square" is "$(iterations "$squaring" --basis '1, N, N^2, N*log2(N)')" 'N^2'
check "a basis for one loop leaves the others alone" is \
    "$(iterations "$squaring" --basis "$halving=1, N, N*log2(N)")" 'N^2'
check "and is that loop's" is "$(iterations "$halving" --basis 'square=1, N^2' --basis 'halve=1, N, N*log2(N)')" 'N*log2(N)'
check "search" is "$(iterations "$halving" --search)" 'N*log2(N)'
pmodel fit --basis '1, N, ceil(N/8), N^2, N*log2(N)' --format json halves.pmdb >noted.json
check "what adds nothing is noted" jq -e '.summary.notes | length == 1 and (.[0] | contains("ceil(N/8)"))' noted.json

before=$(sqlite3 halves.pmdb 'SELECT made, hex(data) FROM models')
expect_error "an unknown parameter" 2 'no parameter of this name .known: N.' pmodel fit --basis '1, n, n^2' halves.pmdb
expect_error "the caret stands under it" 2 '^     \^$' pmodel fit --basis '1, n, n^2' halves.pmdb
expect_error "a function without a value" 2 'no finite value at N=16' pmodel fit --basis '1, log(N-16)' halves.pmdb
expect_error "an unknown scope" 2 'no routine or loop .nothing.' pmodel fit --basis 'nothing=1, N' halves.pmdb
expect_error "an empty list" 2 "a number, a name or" pmodel fit --basis '' halves.pmdb
expect_error "a comparison is no scope" 2 '0 at every size' pmodel fit --basis '1, N==17' halves.pmdb
expect_error "nothing left to search" 2 'leaves nothing to search' pmodel fit --search --basis '1, N' halves.pmdb
check "the models stay as they were" is "$(sqlite3 halves.pmdb 'SELECT made, hex(data) FROM models')" "$before"
