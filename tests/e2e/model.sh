# `pmodel report --as formulas`: counts by class as functions of the size, of a program whose counts are known by hand.
. "$TOP/tests/lib.sh"

cat >ops.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
APART double triple(double x, int n) { /* N^3 multiplications, N^2 additions */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++)
                x *= 0.999;
            x += 0.5;
        }
    return x;
}
APART double pairs(double x, int n) { /* N(N-1)/2 additions, N divisions */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            x += 0.25;
        x /= 1.5;
    }
    return x;
}
APART void add(double *a, const double *b, int n) { /* N^2 additions, in vectors and one by one */
    for (int i = 0; i < n * n; i++)
        a[i] += b[i];
}
int main(int argc, char **argv) {
    int n = atoi(argv[1]);
    double *a = calloc((size_t)(n * n), sizeof *a), *b = calloc((size_t)(n * n), sizeof *b), x = 1;
    for (int t = 0; t < 3; t++)
        x = pairs(triple(x, n), n);
    add(a, b, n);
    printf("%g\n", x + a[0]);
    return argc < 2;
}
C
gcc -O2 -ftree-vectorize -fvect-cost-model=dynamic -g $(pmodel flags) -o ops ops.c
check "six sizes are measured" pmodel run -q -o ops.pmdb --no-memory -P N=10,13,16,21,25,30 -- ./ops '{N}'
expect_error "models are needed" 2 "call .pmodel fit. on it first" pmodel report --as formulas ops.pmdb
check "fit" pmodel fit ops.pmdb

# formula QUERY FILE: the formula of the only row that QUERY selects
formula() { jq -r "[.rows[] | select($1)] | if length == 1 then .[0].formula else \"rows: \\(length)\" end" "$2"; }
# is NAME EXPECTED QUERY FILE
is() {
    local got
    got=$(formula "$3" "$4")
    [ "$got" = "$2" ] && pass "$1" || fail "$1" "$got instead of $2"
}

pmodel report --as formulas ops.pmdb --classes 'fp_add,fp_mult,fp_div' --elements --format json >routines.json
is "multiplications of a triple loop" '3*N^3' '.name == "triple" and .class == "fp_mult"' routines.json
is "additions around it" '3*N^2' '.name == "triple" and .class == "fp_add"' routines.json
is "additions of a triangle" '1.5*N^2 - 1.5*N' '.name == "pairs" and .class == "fp_add"' routines.json
is "divisions" '3*N' '.name == "pairs" and .class == "fp_div"' routines.json
is "elements of vectors and their remainder" 'N^2' '.name == "add" and .class == "fp_add"' routines.json
check "all of them are exact, and so are the sums of their edges' models but for the vector loop" jq -e \
    '[.rows[] | select(.name != "main") | .exact and (.name == "add" or .sum_relative_error < 1e-9)] | all' routines.json

pmodel report --as formulas ops.pmdb --classes fp_add --elements --level program --format json >program.json
is "the program is the sum of its routines" '5.5*N^2 - 1.5*N + 1' true program.json
check "shares of all routines add up to 1" jq -e '[.rows[] | select(.class == "fp_add") | .share] | add - 1 | fabs < 1e-12' routines.json
check "counts of levels add up to the same" bash -c '
    for level in program module routine loop; do
        pmodel report --as formulas ops.pmdb --level $level --classes operations --format json |
            jq "[.rows[].count] | add" || exit 1
    done | uniq | wc -l | grep -x 1'
pmodel report --as formulas ops.pmdb --level loop --classes fp_mult --format json >loops.json
is "a loop has what is directly in it" '3*N^3' true loops.json
check "it is the innermost one" jq -e '.rows[0].kind == "loop" and .rows[0].line_first == 7' loops.json

pmodel report --as formulas ops.pmdb --edges --routine pairs --format json >edges.json
check "edges of a routine are exact" jq -e '(.rows | length > 3) and ([.rows[].exact] | all)' edges.json
check "one of them goes round the inner loop" jq -e \
    '[.rows[] | select(.edge_kind == "taken") | .formula] | any(. == "1.5*N^2 - 4.5*N + 3" or . == "1.5*N^2 - 1.5*N")' edges.json

is_sorted() {
    pmodel report --as formulas ops.pmdb --sort count --format json |
        jq -e '[.rows[].count] | . == (sort | reverse) and length > 2'
}
check "sorted by count" is_sorted
check "sorted by place" bash -c 'pmodel report --as formulas ops.pmdb --level loop --format csv >place.csv && pmodel report --as formulas ops.pmdb --level loop --sort place --format csv | cmp - place.csv'
check "a number as threshold" bash -c '[ "$(pmodel report --as formulas ops.pmdb --sort count --threshold 2 --format csv | wc -l)" = 3 ]'
check "a share as threshold" bash -c 'pmodel report --as formulas ops.pmdb --threshold 10% --format json | jq -e "[.rows[].share] | all(. >= 0.1) and length > 0"'
check "what is left out is said" bash -c 'pmodel report --as formulas ops.pmdb --threshold 1 | grep -q "rows below the threshold"'
check "CSV has the rows of JSON" bash -c \
    '[ "$(pmodel report --as formulas ops.pmdb --classes all --format csv | wc -l)" = "$(pmodel report --as formulas ops.pmdb --classes all --format json | jq ".rows | length + 1")" ]'

printf 'triple # the cube\npairs\n' >names
check "only the routines that a file names" bash -c 'pmodel report --as formulas ops.pmdb --include names --format json | jq -e "[.rows[].name] | sort == [\"pairs\", \"triple\"]"'
check "not the routines that a file names" bash -c 'pmodel report --as formulas ops.pmdb --exclude names --format json | jq -e "[.rows[].name] | index(\"pairs\") == null and index(\"add\") != null"'
pmodel report --as formulas ops.pmdb --classes fp_mult,fp_div --interval pairs --format json >interval.json
is "counts for each interval" 'N^3' '.class == "fp_mult"' interval.json
pmodel report --as formulas ops.pmdb --classes fp_mult -P N=1000 --format json >at.json
check "counts at a size that was not run" jq -e '.rows[0].count == 3e9 and .predicted' at.json
pmodel report --as formulas ops.pmdb --classes fp_mult --basis '1,N^3' --format json >basis.json
is "a basis of one's own" '3*N^3' true basis.json

check "exact counts need no interval" jq -e '.rows[0] | .low_80 == .count and .high_80 == .count' at.json

# Two parameters.
cat >two.c <<'C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) double sweep(double x, int m, int n) { /* M·N² multiplications, M·N additions */
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++)
                x *= 0.999;
            x += 0.5;
        }
    return x;
}
int main(int argc, char **argv) {
    printf("%g\n", sweep(1, atoi(argv[1]), atoi(argv[2])));
    return argc < 3;
}
C
gcc -O1 -g $(pmodel flags) -o two two.c
pmodel run -q -o two.pmdb --no-memory -P M=2,3,5,8,13 -P N=4,6,9,13,18 -- ./two '{M}' '{N}' >two.out
pmodel fit two.pmdb >two.fit
pmodel report --as formulas two.pmdb --routine sweep --classes fp_mult,fp_add --format json >two.json
is "multiplications as a function of two parameters" 'M*N^2' '.class == "fp_mult"' two.json
is "additions as a function of two parameters" 'M*N' '.class == "fp_add"' two.json
check "with two parameters, too, the sum of edges is exact" jq -e '[.rows[].sum_relative_error < 1e-9] | all' two.json
check "flagged and hierarchy take models of two parameters" bash -c \
    'pmodel fit two.pmdb --flagged && pmodel validate --hierarchy -s two.pmdb | grep -q "instructions .*exact"'
expect_error "both must be given" 2 'functions of N' pmodel report --as formulas two.pmdb -P M=3

mkdir -p elsewhere && mv ops ops.c elsewhere/
check "neither the program nor its source is needed" pmodel report --as formulas ops.pmdb
expect_error "a class that there is not" 2 'no instruction class "fp_sqr"' pmodel report --as formulas ops.pmdb --classes fp_add,fp_sqr
expect_error "an empty name" 2 'no instruction class ""' pmodel report --as formulas ops.pmdb --classes fp_add,
expect_error "a level that there is not" 2 'program, module, routine or loop' pmodel report --as formulas ops.pmdb --level block
expect_error "an order that there is not" 2 'place or count' pmodel report --as formulas ops.pmdb --sort name
for threshold in 0 -1 101% x 1.5 ''; do
    expect_error "a threshold that is none: '$threshold'" 2 'threshold takes' pmodel report --as formulas ops.pmdb --threshold "$threshold"
done
expect_error "a routine that there is not" 2 'no routine is called absent' pmodel report --as formulas ops.pmdb --routine absent
expect_error "an interval that there is not" 2 'absent: no routine is called so' pmodel report --as formulas ops.pmdb --interval absent
expect_error "a parameter that there is not" 2 'no parameter M' pmodel report --as formulas ops.pmdb -P M=3
expect_error "edges have no classes" 2 'edges and --classes exclude each other' pmodel report --as formulas ops.pmdb --edges --classes fp_add
expect_error "no store" 2 'give one store' pmodel report --as formulas
