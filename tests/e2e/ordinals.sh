# Kinds of intervals: reports, models and queries of one of them; steps that become smaller from one to
# the next have models in their number.
. "$TOP/tests/lib.sh"

cat >lu.c <<'EOF_LU'
#include <stdio.h>
#include <stdlib.h>
static double a[128][128];
__attribute__((noinline)) void step(int k) { __asm__ volatile("" : : "r"(k)); }
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = i == j ? n : 1.0 / (i + j + 1);
    for (int k = 0; k < n; k++) {
        step(k);
        for (int i = k + 1; i < n; i++) {
            a[i][k] /= a[k][k];
            for (int j = k + 1; j < n; j++)
                a[i][j] -= a[i][k] * a[k][j];
        }
    }
    printf("%g\n", a[n - 1][n - 1]);
    return 0;
}
EOF_LU
# shellcheck disable=SC2046
gcc -O1 -g $(pmodel flags) -o lu lu.c
pmodel run -q -o lu.pmdb --interval step --no-memory -P N=20:60:8 -- ./lu '{N}' >/dev/null
pmodel run -q -o memory.pmdb --interval step --interval-memory --block 64 -P N=16,24,32 -- ./lu '{N}' >/dev/null
check "an interval of a kind has models" sh -c \
    'pmodel fit lu.pmdb --interval step..step --ordinal k | grep -q "30 exact\|models are functions of N, k"'

python3 - <<'EOF_PYTHON'
import json, subprocess

def pmodel(*arguments):
    return json.loads(subprocess.run(["pmodel", *arguments, "--format", "json"], check=True, capture_output=True, text=True).stdout)

def test(name, expected, found):
    print(f"ok - {name}" if expected == found else f"FAIL - {name}: {found}, not {expected}")

kinds = pmodel("report", "--as", "intervals", "lu.pmdb", "-m", "zen4", "-P", "N=60")["reports"][0]["kinds"]
ends = {(k["begin"].split()[-1], k["end"].split()[-1]): k for k in kinds}
test("there are three kinds", {("begin", "step"): 1, ("step", "step"): 59, ("step", "end"): 1},
     {e: k["n"] for e, k in ends.items()})
test("their shares add up", True, abs(sum(k["share"] for k in kinds) - 1) < 1e-12)

def rows(store, size, *options):
    report = pmodel("report", store, "-m", "zen4", "--interpolate", "-P", size, *options)
    return report, {r["label"]: r["iterations"] for r in report["predictions"][0]["rows"] if r.get("iterations")}

whole = rows("lu.pmdb", "N=60")[1]
parts = [rows("lu.pmdb", "N=60", "--interval", str(k["kind"]))[1] for k in kinds]
test("iterations of the kinds add up to the run's", whole,
     {loop: sum(part.get(loop, 0) for part in parts) for loop in whole})

one, steps = rows("lu.pmdb", "N=100,k=30", "--interval", "step..step", "--ordinal", "k")
test("a report says what it is of", True, one["selection"].startswith("one interval main:"))
test("a step that was not measured is predicted", (70, 4900), (steps["main/2 i"], steps["main/3 j"]))
model = pmodel("report", "--as", "formulas", "lu.pmdb", "--interval", "step..step", "--ordinal", "k", "--level", "loop")["rows"]
formulas = {row["label"]: row["formula"] for row in model}
factor = formulas["main/3 j"].split("*")[0]
test("steps are a triangle", f"{factor}*N^2 - {2 * int(factor)}*N*k + {factor}*k^2", formulas["main/3 j"])

def accesses(*options):
    return pmodel("query", "memory.pmdb", "--cache", "1K", "--block", "64", "-P", "N=32", *options)["answers"][0]
whole = accesses()
parts = [accesses("--interval", kind) for kind in ("begin..step", "step..step", "step..end")]
for figure in "accesses", "misses", "first_touches":
    test(f"{figure} of the kinds add up to the run's", whole[figure], sum(part[figure] for part in parts))
EOF_PYTHON
expect_error "a name of several kinds is told apart" 2 'several kinds of intervals are called so: [0-9]+ \(begin..main' \
    pmodel report lu.pmdb --interval step
expect_error "a kind that there is not names those that there are" 2 'no such kind of interval; the store has [0-9]' \
    pmodel report lu.pmdb --interval 17
expect_error "an ordinal is not called as a parameter is" 2 'have a parameter "N" of their own' \
    pmodel fit lu.pmdb --interval step..step --ordinal N
expect_error "a kind without models says so" 2 'no models yet' \
    pmodel report lu.pmdb -m zen4 --interval begin..step -P N=100
