# Signatures, convolution and roofline as commands: what they print of a small program, drawings that are
# well formed, and a sentence for each bad input.
# shellcheck shell=bash
. "$TOP/tests/lib.sh"
measured=$TOP/machines/measured/amd-25-17.conf

cat >gather.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static double x[1 << 16], a[1 << 16], sum;
static int at[1 << 16];
int main(int argc, char **argv) {
    int n = 1024 * atoi(argv[argc - 1]);
    for (int i = 0; i < n; i++)
        at[i] = (int)((unsigned)i * 2654435761u % (unsigned)n), a[i] = i, x[i] = 1;
    for (int t = 0; t < 4; t++)
        for (int i = 0; i < n; i++)
            sum += a[i] * x[at[i]];
    printf("%g\n", sum);
    return 0;
}
END
cat >whole.c <<'END'
#include <stdlib.h>
static int x[1 << 16];
int main(int argc, char **argv) {
    int n = 1024 * atoi(argv[argc - 1]), s = 0;
    for (int i = 0; i < n; i++)
        x[i] = i ^ 5;
    for (int i = 0; i < n; i++)
        s ^= x[n - 1 - i];
    return s == 1;
}
END
for program in gather whole; do
    check "$program is built" gcc -O1 -g $(pmodel flags) -o $program $program.c
    check "$program is measured" pmodel run -q -o $program.pmdb -m "$measured,r12000" -P N=8,12,16,24,32,48 -- ./$program '{N}'
    check "$program has models" pmodel fit $program.pmdb
done

# ---- curves

pmodel machines --curves --format json "$measured" r12000 >signature.json
check "a measured signature is not marked" jq -e '.machines[0].synthesised == false and (.machines[0].curves | length) >= 10' signature.json
check "one that nobody measured is" jq -e '.machines[1].synthesised and (.machines[1].curves | length) == 12' signature.json
check "and said to be" sh -c "pmodel machines --curves r12000 | grep -q '^  - Synthesised from the machine'"
check "points have rates and hits" jq -e '[.machines[].curves[].points[] | .bytes_per_second > 0 and .hit_rates.L1 <= 1] | all' signature.json
check "CSV has as many lines" test "$(pmodel machines --curves --format csv "$measured" r12000 | wc -l)" = \
    "$(jq '[.machines[].curves[].points | length] | add + 1' signature.json)"
for machine in "$measured" r12000; do
    pmodel machines --curves --format svg --profile gather.pmdb -P N=64 "$machine" >signature.svg
    check "the drawing for ${machine##*/} is well formed" xmllint --noout signature.svg
    check "with the program's loops in it" grep -q "class='mark'" signature.svg
done

# ---- convolution

pmodel report --as convolution gather.pmdb -m "$measured,r12000" -P N=32 --format json >run.json
pmodel report --as convolution gather.pmdb -m "$measured,r12000" -P N=64 --format json >models.json
check "a measured size is from its run, another from the models" jq -s -e '.[0].source == "run" and .[1].source == "models"' run.json models.json
check "2 flops for each of 4 times N elements" jq -e '.machines[0].flops == 2 * 4 * 32 * 1024' run.json
check "the models have twice as many at twice the size" jq -s -e '((.[1].machines[0].flops / .[0].machines[0].flops - 2) | fabs) < 0.001' run.json models.json
hot() { jq "[.machines[0].parts[] | select(.flops > 0)][0]$2" "$1"; }
check "a third of the loop's references is random, and it is in the domain" \
    test "$(hot run.json ' | (.random_share - 1 / 3 | fabs) < 0.01 and .in_domain')" = true
check "its time is words over rate, pattern by pattern" \
    test "$(hot run.json ' | ((.patterns | map(.words / .words_per_second) | add) / .seconds - 1 | fabs) < 1e-6')" = true
check "(1), (2) and the sum of times follow from the parts" jq -e '[.machines[] |
    ((.parts | map(.memory_share * .words_per_second) | add) / .metasim_number - 1 | fabs) < 1e-6 and
    ((.parts | map(.memory_share * .words_per_second * .flops_per_word) | add) / 1e6 / .mean_mflops - 1 | fabs) < 1e-6 and
    ((.parts | map(.seconds) | add) / .seconds - 1 | fabs) < 1e-6 and (.flops / .seconds / 1e6 / .mflops - 1 | fabs) < 1e-6] | all' run.json
check "the first machine's ratio is 1" jq -e '.machines[0].metasim_ratio == 1 and .machines[1].synthesised' run.json
check "CSV has a line for each part and machine" test "$(pmodel report --as convolution gather.pmdb -m r12000 -P N=32 --format csv | wc -l)" = \
    "$(jq '.machines[1].parts | length + 1' run.json)"
pmodel report --as convolution whole.pmdb -m r12000 -P N=32 >whole.txt
check "code without floating point is told" grep -q "No part has a floating-point operation" whole.txt

# ---- basic blocks of a profile

check "basic blocks are profiled" pmodel run -q -o blocks.pmdb --profile --simulate r12000 -P N=32 -- ./gather '{N}'
pmodel report --as convolution blocks.pmdb -m r12000 --format json >blocks.json
check "a profile of basic blocks is taken where there is one" jq -e '.source == "profile" and (.machines[0].parts | all(.block != null))' blocks.json
check "it has the same operations, and the loop's random third" test "$(hot blocks.json ' | (.random_share - 1 / 3 | fabs) < 0.1')" = true
check "and the hit rates that reuse distances say" jq -s -e '[.[0].machines[0], .[1].machines[1]] | map([.parts[] | select(.flops > 0)][0].hit_rates) |
    ((.[0].L1 - .[1].L1 | fabs) < 0.01) and ((.[0].L2 - .[1].L2 | fabs) < 0.01)' blocks.json run.json
expect_error "a machine that was not simulated" 2 "were not simulated in this run: measure it again with" pmodel report --as convolution blocks.pmdb -m itanium2

# ---- time with misses by the signature

seconds() { pmodel report gather.pmdb -m "$measured" -P N=32 --time "$1" --format json | jq '.predictions[0].seconds'; }
check "three predictors give three times" test "$(printf '%s\n' "$(seconds simple)" "$(seconds window)" "$(seconds signature)" | sort -u | wc -l)" -ge 2
check "a report says that the signature was synthesised" sh -c \
    "pmodel report gather.pmdb -m r12000 -P N=32 --time signature | grep -q 'from a signature that was made'"
check "parts of a scope's cycles still add up" sh -c "pmodel report gather.pmdb -m r12000 -P N=32 --time signature --format json | jq -e '[.predictions[0].rows[]? |
    select(.self_cycles != null) | .self_cycles >= 0] | all'"

# ---- roofline

pmodel report --as roofline gather.pmdb -m "$measured" -P N=32 --format json >roofline.json
check "no loop is above its roof by more than rounding" jq -e '[.programs[0].points[].reached_share <= 1.05] | all' roofline.json
check "two stores are two programs" test "$(pmodel report --as roofline gather.pmdb gather.pmdb -m r12000 -P N=64 --format json | jq '.programs | length')" = 2
pmodel report --as roofline gather.pmdb gather.pmdb -m r12000 -P N=64 --format svg >roofline.svg
check "the drawing of two is well formed" xmllint --noout roofline.svg

# ---- bad input

expect_error "a store without a profile" 2 "^pmodel: gather.pmdb has no profile of basic blocks: .*-P NAME=VALUE" pmodel report --as convolution gather.pmdb -m r12000
expect_error "a roof of floating-point operations over none" 2 "no loop of the program has a floating-point operation" \
    pmodel report --as roofline whole.pmdb -m r12000 -P N=32
expect_error "a machine that there is not" 2 "no machine" pmodel machines --curves r12001
expect_error "no machine" 2 "name a machine" pmodel machines --curves
expect_error "no machine to convolve with" 2 "name one or more machines" pmodel report --as convolution gather.pmdb
expect_error "a size with a parameter that there is not" 2 "M" pmodel report --as convolution gather.pmdb -m r12000 -P M=3
expect_error "a predictor that there is not" 2 "window, simple or signature" pmodel report gather.pmdb -m r12000 --time magic
expect_error "two drawings at once" 2 "of one machine" pmodel machines --curves --format svg r12000 power3
