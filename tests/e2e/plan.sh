# `pmodel plan`: a plan's command runs, its estimates are of the right size, too few sizes are said.
. "$TOP/tests/lib.sh"

cat >loops.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    long n = atol(argv[1]), m = argc > 2 ? atol(argv[2]) : 1;
    double *a = malloc((size_t)(n * n) * sizeof *a), sum = 0;
    for (long s = 0; s < m; s++)
        for (long i = 0; i < n; i++)
            for (long j = 0; j < n; j++)
                a[i * n + j] = (double)(i + j + s);
    for (long i = 0; i < n * n; i++)
        sum += a[i];
    printf("%g\n", sum);
    return 0;
}
C
gcc -O2 -g $(pmodel flags) -o loops loops.c

pmodel plan -P N=16:400 --where 'N%4==0' --runs 5 --to N=1024 --block 64 -- ./loops '{N}' \
    >plan.txt 2>plan.err
check "a plan is made" grep -q '^5 runs, about' plan.txt
check "it says how far the target is" grep -q 'N=1024 is .* times the largest' plan.txt
check "it says what the target itself would take" grep -q 'measuring N=1024 itself' plan.txt
check "what the program prints is not on standard output" sh -c '! grep -qE "^[0-9.e+]+$" plan.txt && grep -qE "^[0-9.e+]+$" plan.err'
check "trials are told" grep -q 'trying N=16' plan.err
check "the plan leaves no file" sh -c \
    '[ "$(ls | grep -v "^check")" = "$(printf "loops\nloops.c\nplan.err\nplan.txt")" ]'

command=$(sed -n 's/^    \(pmodel run .*\)/\1/p' plan.txt)
check "the command that it proposes runs" sh -c "$command"
check "it makes the planned runs" test \
    "$(sqlite3 loops.pmdb 'SELECT count(*) FROM run')" = 5
check "models can be made of them" pmodel fit loops.pmdb

pmodel plan -P N=64:512:64 --block 64 --format json -- ./loops '{N}' 20 >plan.json 2>/dev/null
python=$(command -v python3)
check "JSON can be read, and larger sizes cost more" "$python" - <<'P'
import json
plan = json.load(open("plan.json"))
assert plan["format"] == "pmodel-plan" and plan["version"] == 1
runs = plan["runs"]
assert len(runs) == 6, runs
seconds = [run["seconds"] for run in runs if not run["tried"]]
assert seconds == sorted(seconds) and seconds[0] > 0
assert all(run["parameters"]["N"] % 64 == 0 for run in runs)
assert any(run["tried"] for run in runs) and not plan["too_few"] and plan["to"] is None
assert abs(sum(run["seconds"] for run in runs) - plan["seconds"]) < plan["seconds"]
P
pmodel plan -P N=64:512:64 --block 64 --format csv -- ./loops '{N}' >plan.csv 2>/dev/null
check "CSV has a header and a line for each run" sh -c \
    'head -1 plan.csv | grep -q "^N,seconds,peak_bytes,store_bytes,tried" && [ $(wc -l <plan.csv) = 7 ]'

pmodel plan -P N=16:64:16 --block 64 -- ./loops '{N}' >few.txt 2>/dev/null
check "too few sizes are said" grep -q '4 values of N are too few' few.txt
pmodel plan -P N=10:16 --no-memory -- ./loops '{N}' >odd.txt 2>/dev/null
check "sizes of no one residue class are said" grep -q 'residue class' odd.txt
check "memory that is not known is shown so" grep -q 'N=1[1-5] .*?' odd.txt
pmodel plan -P N=16:512:8 --time 1s --block 64 -- ./loops '{N}' 400 >short.txt 2>/dev/null
check "a short time is kept, or it is said that it cannot be" grep -q 'exceed the time' short.txt

pmodel plan -P A=32:160:32 -P B=1:60 --where 'B<=floor((A-1)/3)' -P 'C=A*B' --runs 25 --block 64 \
    -- ./loops '{A}' '{B}' >two.txt 2>/dev/null
check "two parameters are planned as points" grep -q 'pmodel run -o loops.pmdb -P A,B=[0-9:,]* ' two.txt
check "formulas are kept" grep -q 'C=A\*B' two.txt
pmodel plan -P A=32:160:32 -P B=8,16 --runs 4 --block 64 -- ./loops '{A}' '{B}' >two.txt 2>/dev/null
check "too few runs for two parameters are said" grep -q 'too few for degree 4 in 2 parameters' two.txt

expect_error "sizes that do not vary are refused" 2 'admissible sizes' \
    pmodel plan --block 64 -- ./loops 16
expect_error "a target of another name is refused" 2 'M is no parameter' \
    pmodel plan -P N=16:64:8 --to M=3 -- ./loops '{N}'
expect_error "a time is a time" 2 'takes a time' pmodel plan -P N=16:64:8 --time 10x -- ./loops
expect_error "no time is no time" 2 'takes a time' pmodel plan -P N=16:64:8 --time 0 -- ./loops
expect_error "a trial that fails is told" 2 'ended with status' \
    pmodel plan -P N=16:64:8 --block 64 -- sh -c 'exit 3 # {N}'
expect_error "no command is a mistake" 2 'command' pmodel plan -P N=16:64:8
