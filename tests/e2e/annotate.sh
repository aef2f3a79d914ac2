# `pmodel report --as source`: lines add up to the time and misses of the report, the hottest line is that of the hottest
# loop, and a source or program that is not there is told.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

read -ra marks < <(pmodel flags)
mkdir built elsewhere
cp "$TOP/bench/apps/heat/heat.c" built/
check "heat builds" gcc -O2 -g "${marks[@]}" -o heat built/heat.c -lm -Wl,--build-id=sha1
check "heat is measured" pmodel run -q -m r12000 -o heat.pmdb -P N=24 -- ./heat '{N}'
pmodel report --as source -m r12000 --format json heat.pmdb heat.c >lines.json
pmodel report -m r12000 --format json heat.pmdb >report.json
check "lines add up to the time" jq -e '([.lines[].seconds] | add) + .elsewhere_seconds + .unknown_seconds - .seconds | fabs < 1e-12' lines.json
check "the time is the report's" jq -e -n --slurpfile l lines.json --slurpfile r report.json \
    '$l[0].seconds == $r[0].predictions[0].seconds'
check "misses are at most the report's, and nearly all" jq -e -n --slurpfile l lines.json --slurpfile r report.json '
    ([$l[0].lines[].misses.L1] | add) as $sum | $r[0].predictions[0].scopes[0].total.misses.L1 as $all |
    $sum <= 1.000001 * $all and $sum > 0.8 * $all'
first=$(grep -n '^static void step' built/heat.c | cut -d: -f1)
check "most of the time is in the sweep" jq -e --argjson first "$first" '([.lines[] | select(.line > $first and .line <= $first + 8) | .seconds] |
    add) > 0.4 * .seconds' lines.json
check "several lines of one basic block have figures" jq -e --argjson first "$first" '[.lines[] | select(.line > $first + 3 and
    .line <= $first + 8 and .instructions > 0)] | length >= 2' lines.json
check "the table has the source" sh -c 'pmodel report --as source -m r12000 heat.pmdb heat.c | grep -q "RATE \*"'
check "the CSV has as many lines" sh -c 'test "$(pmodel report --as source -m r12000 --format csv heat.pmdb heat.c | tail -n +2 | wc -l)" = \
    "$(jq ".lines | length" lines.json)"'
mv built/heat.c elsewhere/
expect_error "the source is not there" 2 '--source-dir' pmodel report --as source -m r12000 heat.pmdb heat.c
check "the source was moved" sh -c 'pmodel report --as source -m r12000 --source-dir elsewhere heat.pmdb heat.c | grep -q "RATE \*"'
mv heat heat.away
check "without the program basic blocks count whole" sh -c 'pmodel report --as source -m r12000 --format json heat.pmdb elsewhere/heat.c >blocks.json &&
    jq -e "(.note | test(\"not there\")) and (.lines | length > 5)" blocks.json'
check "and add up, too" jq -e '([.lines[].seconds] | add) + .elsewhere_seconds + .unknown_seconds - .seconds | fabs < 1e-12' blocks.json
expect_error "a file of another program" 2 'nothing of this program was compiled from a file called hat.c.*heat.c' \
    pmodel report --as source -m r12000 heat.pmdb hat.c
expect_error "no file" 2 'a source file of its program' pmodel report --as source -m r12000 heat.pmdb
expect_error "no machine" 2 'give one machine' pmodel report --as source heat.pmdb heat.c
