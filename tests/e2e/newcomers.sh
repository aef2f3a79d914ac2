# The mistakes that newcomers make, on a program that is none of the examples: each message says what to do.
# docs/mistakes.md has them.
. "$TOP/tests/lib.sh"

cp "$TOP/docs/tutorial/covariance.c" .
marked=$(pmodel flags)
# says NAME PATTERN COMMAND...: a line of its output matches, whatever its status.
says() {
    local name=$1 pattern=$2
    shift 2
    "$@" >said 2>&1
    if grep -qE -e "$pattern" said; then
        pass "$name"
    else
        fail "$name" "no line matches '$pattern'"
        sed 's/^/    /' said | tail -n 20
    fi
}

check "a program without -g is built" gcc -O2 "$marked" -o no_g covariance.c
check "it is measured" pmodel run -q -o no_g.pmdb -P N=24 -- ./no_g '{N}'
says "the plugin alone knows lines" 'covariance.c:24' pmodel report -m icelake-sp no_g.pmdb

check "a program without -g and plugin is built" gcc -O2 -o bare covariance.c
says "a run says that lines are not known" 'no debug information: built without -g' \
    pmodel run -o bare.pmdb -P N=24 -- ./bare '{N}'
says "and that the plugin was not there" 'no `.pmodel` metadata: built without' \
    pmodel run -o bare2.pmdb -P N=24 -- ./bare '{N}'
says "a report does" 'SOURCE \?: .* built with -g' pmodel report -m icelake-sp bare.pmdb

expect_error "another version of GCC" 1 'this compiler is GCC 11.*was built for GCC 12' gcc-11 -c -O2 "$marked" covariance.c
check "a program is built" gcc -O2 -g "$marked" -o covariance covariance.c
cp covariance stripped
strip stripped
check "a stripped one is measured" pmodel run -q -o stripped.pmdb -P N=24 -- ./stripped '{N}'
says "its routines are called after addresses, and that is said" 'called after their addresses' \
    pmodel report -m icelake-sp stripped.pmdb

cat >from_file.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    int n = 0;
    FILE *file = fopen("size", "r");
    if (!file || fscanf(file, "%d", &n) != 1)
        return 3;
    double *a = calloc(n, sizeof *a), sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] += i;
    printf("%g\n", sum);
    return 0;
}
C
check "a program that reads a file is built" gcc -O2 -g "$marked" -o from_file from_file.c
echo 8 >size
expect_error "a size that reaches nothing" 2 'no argument, --env, --input or --build has \{N\}.*--unused' \
    pmodel run -o from_file.pmdb -P N=16,24 -- ./from_file
echo '{N}' >size.template
check "the file is made for each size" pmodel run -q -o from_file.pmdb --input size.template:size -P N=16,24,32 -- ./from_file
check "and makes a difference" sh -c "sqlite3 from_file.pmdb 'select count(distinct accesses) from run' | grep -qx 3 ||
    pmodel fit from_file.pmdb"

check "one size is measured" pmodel run -q -o one.pmdb -P N=16 -- ./covariance '{N}'
expect_error "one size is too little for models" 2 'at 3 sizes at least, and there is 1' pmodel fit one.pmdb
expect_error "and for a prediction" 2 'they need runs at 3 sizes at least, better 5, and there is 1' \
    pmodel report -m icelake-sp -P N=64 one.pmdb

cat >crashes.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 0;
    double *a = calloc(n, sizeof *a), sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] += i;
    if (n == 24)
        *(volatile int *)0 = 1;
    printf("%g\n", sum);
    return 0;
}
C
check "a program that crashes at one size is built" gcc -O2 -g "$marked" -o crashes crashes.c
expect_error "that size is left out, and said why" 2 '`./crashes 24` was ended by signal 11.*left out' \
    pmodel run -o crashes.pmdb -P N=16,24,32,40 -- ./crashes '{N}'
check "the others are there" pmodel fit crashes.pmdb

mkdir before
cp covariance.c before
(cd before && gcc -O2 -g "$marked" -o moved covariance.c && pmodel run -q -o moved.pmdb -P N=16,24 -- ./moved '{N}') >log 2>&1
mv before after
check "a tree that was moved goes on" sh -c 'cd after && pmodel run -q -o moved.pmdb -P N=32 -- ./moved "{N}" && pmodel fit moved.pmdb'
check "and so does one that was built again" sh -c "cd after && gcc -O2 -g '$marked' -o moved covariance.c &&
    pmodel run -q -o moved.pmdb -P N=40 -- ./moved '{N}'"

expect_error "a machine that was not measured for" 2 'pmodel run -o one.pmdb -m r12000 -P N=16 -- ./covariance \{N\}` measures them' \
    pmodel report -m r12000 one.pmdb
expect_error "a machine that there is not" 2 'did you mean r12000' pmodel report -m r1200 one.pmdb

# A terminal of 80 columns.
pmodel fit after/moved.pmdb >log 2>&1
for options in '' --tree '-P N=16,24,32,100' --carried; do
    [ "$options" = --carried ] && pmodel run -q --carry -o after/moved.pmdb -P N=48 -- ./covariance '{N}' >log 2>&1
    script -qc "stty cols 80; pmodel report -m icelake-sp $options after/moved.pmdb" /dev/null |
        tr -d '\r' | sed 's/\x1b\[[0-9]*m//g' >screen
    widest=$(LC_ALL=C.UTF-8 wc -L <screen)
    if [ "$widest" -le 80 ]; then
        pass "report $options fits 80 columns"
    else
        fail "report $options fits 80 columns" "a line has $widest"
        cat screen
    fi
done
