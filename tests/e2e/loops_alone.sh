# `pmodel loops --time`: innermost loops run alone. What they take is not asserted, but what was run and why not.
. "$TOP/tests/lib.sh"

cat >loops.c <<'C'
#include <stdio.h>
#include <stdlib.h>
double x[1000], y[1000];
__attribute__((noinline)) void axpy(int n, double a) {
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}
__attribute__((noinline)) double calls(int n) {
    double s = 0;
    for (int i = 0; i < n; i++)
        s += rand();
    return s;
}
int main(int argc, char **argv) {
    axpy(1000, argc);
    printf("%g %g %s\n", y[7], calls(10), argv[0]);
    return 0;
}
C
check "a program with two loops builds" gcc -O2 -g -fno-tree-vectorize -o loops loops.c
check "its loops are timed" sh -c 'pmodel loops --time --format json ./loops >all.json'
check "the one that calls is refused, the other one has run" jq -e '.format == "pmodel-loop-times" and .innermost == 2
    and .ran == 1 and .refused.calls == 1
    and (.loops[] | select(.name == "axpy") | .result == "ran" and .cycles_low <= .cycles and .cycles <= .cycles_high
         and .cycles_high > 0 and .instructions > 3 and .unrolled >= 4 and .pages >= 2)
    and (.loops[] | select(.name == "calls") | .result == "calls" and .cycles == null)' all.json
pmodel loops --time --format json --routine axpy ./loops >one.json 2>errors
check "one routine's loops can be asked for; its code is known by its hash" jq -e -n --slurpfile one one.json --slurpfile all all.json \
    '($one[0].loops | length) == 1 and $one[0].loops[0].hash == ($all[0].loops[] | select(.name == "axpy") | .hash)'
pmodel loops --time ./loops >table.txt 2>errors
check "its code is there, in bytes" jq -e '.loops[0] | (.code | length) == 2 * .bytes and (.code | test("^[0-9a-f]+$"))' one.json
check "the table says what was run and why not" sh -c \
    'grep -q "^ axpy/1 .* loops.c:5 *[0-9]*\.[0-9][0-9] " table.txt && grep -q "calls/1 .* calls$" table.txt &&
     grep -q "innermost loops: 2, run: 1; calls: 1" table.txt'
check "CSV has a line for each loop" sh -c '[ "$(pmodel loops --time --format csv ./loops | wc -l)" -eq 3 ]'
check "the same code is found in a copy without symbols" sh -c 'strip -o stripped loops &&
    pmodel loops --time --format json ./stripped | jq -e --arg hash "$(jq -r ".loops[0].hash" one.json)" \
        "[.loops[].hash] | index(\$hash) != null"'
expect_error "--time is a table of its own" 2 'time and --groups exclude each other' pmodel loops --time --groups ./loops
expect_error "--time and --mix are two tables" 2 'mix and --time exclude each other' pmodel loops --time --mix ./loops
if command -v aarch64-linux-gnu-gcc-12 >/dev/null; then
    check "a program for AArch64 builds" aarch64-linux-gnu-gcc-12 -O2 -o foreign loops.c
    expect_error "loops of another processor do not run here" 2 'x86-64 only' pmodel loops --time ./foreign
fi
