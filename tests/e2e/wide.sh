# Tables in a narrow terminal: what they leave out they name, and --wide has all of it.
. "$TOP/tests/lib.sh"

cat >sum.c <<'C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline, noclone)) double sum_of_squares(const double *values, int n) {
    double sum = 0;
    for (int i = 0; i < n * n; i++)
        sum += values[i] * values[i];
    return sum;
}
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 16;
    double *values = calloc((size_t)(n * n), sizeof *values);
    printf("%g\n", sum_of_squares(values, n));
    return 0;
}
C
gcc -O1 -g $(pmodel flags) -o sum sum.c
check "a store" pmodel run -q -o sum.pmdb -m r12000 -P N=8,12,16,24,32,40 -- ./sum '{N}'
check "models" pmodel fit sum.pmdb

in_narrow_terminal() { # COMMAND
    NO_COLOR=1 script -qec "stty cols 60; $1" /dev/null </dev/null | tr -d '\r'
}
# The columns that the tables of FILE say they have no room for, one a line.
left_out() { # FILE
    tr -s '\n ' ' ' <"$1" | grep -o 'no room for [^:]*: --wide' |
        sed 's/no room for //; s/: --wide//; s/, /\n/g'
}
# What is left out of COMMAND's tables is missing without --wide, and there with it.
leaves_out() { # COMMAND ARGUMENT...
    local command=$1 columns column missing=
    shift
    in_narrow_terminal "pmodel $command $*" >narrow
    in_narrow_terminal "pmodel $command --wide $*" >wide
    columns=$(left_out narrow)
    while read -r column; do
        grep -qF -- "$column" wide || missing="$missing, $column"
    done <<<"$columns"
    if [ -z "$columns" ]; then
        fail "$command $*: a narrow terminal leaves columns out" "$(cat narrow)"
    elif [ -n "$missing" ] || [ -n "$(left_out wide)" ]; then
        fail "$command $*: --wide has all columns" "without$missing: $(cat wide)"
    else
        pass "$command $*: --wide has what a narrow terminal leaves out"
    fi
}
leaves_out loops ./sum
leaves_out loops --mix ./sum
leaves_out loops --summary ./sum
leaves_out fit --models sum.pmdb
leaves_out model sum.pmdb
leaves_out report -m r12000 sum.pmdb
leaves_out query -P N=50,60 --cache 1K,2K sum.pmdb
leaves_out validate -q -s sum.pmdb -P N=48 -m r12000 -- ./sum '{N}'
leaves_out validate --hierarchy -s sum.pmdb

in_narrow_terminal "pmodel plan --wide -P N=8:100 --to N=1000 -- ./sum '{N}'" >plan
check "plan takes it" grep -q 'pmodel run' plan
expect_error "not in place of a dump" 2 '\-\-dump and --wide exclude each other' pmodel loops --wide --dump cfg ./sum
