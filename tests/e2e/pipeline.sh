# The whole pipeline as a user drives it: mark, lift, measure, fit, report, on the heat stencil.
. "$TOP/tests/lib.sh"

check "heat builds with the flags of pmodel" \
    gcc -O3 -g -march=x86-64-v3 $(pmodel flags) -o heat "$TOP/bench/apps/heat/heat.c" -lm
check "loops of a marked program" pmodel loops ./heat
pmodel loops --groups ./heat >loops.txt
grep -q 'heat\.c:' loops.txt && pass "loops have source lines" || fail "loops have source lines" "$(head -20 loops.txt)"
check "loops as JSON" sh -c 'pmodel loops --groups --format json ./heat | jq -e "[.scopes[] | select(.kind == \"loop\")] | length > 3"'

pmodel run -o heat.pmdb -m r12000,itanium2 -P N=24,32,40,48,56,64 -- ./heat '{N}' >run.out 2>run.err
status=$?
[ $status -eq 0 ] && pass "six sizes are measured" || fail "six sizes are measured" "$(tail -5 run.err)"
for n in 24 32 40 48 56 64; do ./heat $n; done >plain.out 2>/dev/null
check "the program prints what it prints without pmodel" cmp run.out plain.out
pmodel run -o heat.pmdb -P N=24,32 -- ./heat '{N}' >again.out 2>again.err
if [ ! -s again.out ] && grep -q '2 were there' again.err; then
    pass "runs that the store has are not repeated"
else
    fail "runs that the store has are not repeated" "$(cat again.err)"
fi

check "report at a measured size needs no fit" pmodel report heat.pmdb -m r12000 -P N=64
check "fit" pmodel fit heat.pmdb
pmodel report heat.pmdb -m r12000,itanium2 -P N=256 >report.txt 2>&1
status=$?
[ $status -eq 0 ] && grep -q 'N=256' report.txt && grep -q 'extrapolated 4' report.txt &&
    pass "report at four times the size" || fail "report at four times the size" "$(head -5 report.txt)"
check "report as JSON" sh -c \
    'pmodel report heat.pmdb -m r12000 -P N=256 --format json | jq -e . >/dev/null'
check "a predicted time has bounds, of the whole and of each row" sh -c \
    "pmodel report heat.pmdb -m r12000 -P N=256 --format json | jq -e '.predictions[0]
        | .level == 0.8 and .low_seconds <= .seconds and .seconds <= .high_seconds
        and ([.rows[] | select(.counted) | .low.self_seconds <= .self_seconds
              and .self_seconds <= .high.self_seconds] | all)' >/dev/null"
check "the time of a measured size has an interval, its counts have none" sh -c \
    "pmodel report heat.pmdb -m r12000 -P N=64 --format json | jq -e '.predictions[0]
        | .level == 0.8 and .low_seconds <= .seconds and .seconds <= .high_seconds
        and ([.rows[] | select(.counted) | .low.iterations == .iterations] | all)' >/dev/null"
check "models are listed with bounds at twice the largest size" sh -c \
    "pmodel fit --models --format json heat.pmdb | jq -e '[.models[] | select(.formula) | .interval
        | .parameters.N == 128 and .level == 0.8
        and (.low == null or .low <= .value)] | length > 10 and all' >/dev/null"
check "report as CSV" sh -c 'pmodel report heat.pmdb -m r12000 -P N=256 --format csv | head -1 | grep -q ,'

mkdir elsewhere && mv heat.pmdb elsewhere/ && rm heat
check "fit and report need neither binary nor source" sh -c \
    'cd elsewhere && pmodel fit heat.pmdb >/dev/null && pmodel report heat.pmdb -m itanium2 -P N=128'

# Substitution, scratch folders, scripts.
cat >reader.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    int n = 0; double s = 0; char *e = getenv("SIZE");
    FILE *f = fopen("size.in", "r");
    if (f) { if (fscanf(f, "n = %d", &n) != 1) return 4; fclose(f); }
    else if (e) n = atoi(e);
    char *slash = strrchr(argv[0], '/');
    for (int i = 0; i < n * n; i++) s += 1.0 / (i + 1);
    printf("%s %d %.6f %d\n", slash ? slash + 1 : argv[0], n, s, argc);
    return n ? 0 : 5;
}
C
gcc -O1 -g $(pmodel flags) -o reader reader.c
printf 'n = {N}\n' >size.tpl
out=$(pmodel run -q -o in.pmdb --block 64 -P N=5,7 --input size.tpl:size.in -- ./reader)
[ "$out" = "$(printf 'reader 5 3.815958 1\nreader 7 4.479205 1')" ] && [ ! -e size.in ] &&
    pass "an input file is made from a template, in a folder of its own" ||
    fail "an input file is made from a template, in a folder of its own" "$out"
out=$(pmodel run -q -o env.pmdb --block 64 -P N=5 --env 'SIZE={N}' -- ./reader)
[ "$out" = "reader 5 3.815958 1" ] && pass "the environment is substituted" ||
    fail "the environment is substituted" "$out"
pmodel run -q -o sc.pmdb --block 64 -P N=5 --scratch work --input size.tpl:size.in -- ./reader >/dev/null
[ -f work/N=5/size.in ] && pass "--scratch keeps each size's folder" ||
    fail "--scratch keeps each size's folder" "$(ls -R work 2>&1)"
printf '#!/bin/sh\nSIZE=$1 exec ./reader x\n' >launch && chmod +x launch
out=$(pmodel run -q -o script.pmdb --block 64 -P N=5 --exe ./reader -- ./launch '{N}')
[ "$out" = "reader 5 3.815958 2" ] && pass "a launcher runs the instrumented program" ||
    fail "a launcher runs the instrumented program" "$out"

# $ORIGIN and /proc/self/exe are those of the plain program.
mkdir -p tree/bin tree/lib
printf 'int answer(void) { return 42; }\n' >answer.c
gcc -shared -fPIC -o tree/lib/libanswer.so answer.c
cat >origin.c <<'C'
#include <stdio.h>
#include <unistd.h>
int answer(void);
int main(int c, char **v) {
    char exe[4096]; ssize_t n = readlink("/proc/self/exe", exe, sizeof exe);
    printf("%d %s %.*s\n", answer() + c - 1, v[0], (int)n, exe); return 0;
}
C
gcc -O1 -o tree/bin/origin origin.c -Ltree/lib -lanswer -Wl,-rpath,'$ORIGIN/../lib'
plain=$(./tree/bin/origin)
out=$(pmodel run -q -o origin.pmdb --block 64 -- ./tree/bin/origin)
[ "$out" = "$plain" ] && pass "argv[0], the file name and \$ORIGIN stay" ||
    fail "argv[0], the file name and \$ORIGIN stay" "$out instead of $plain"
