# A page of `pmodel report --as page` in a browser: it opens, its table is the report's, it sorts, slides, works by keyboard, narrow and wide, light and
# dark, without a complaint on the console; and one of 300 loops on three machines is small and opens within a second.
# time limit: 1200 s
. "$TOP/tests/lib.sh"

cp "$TOP/bench/apps/heat/heat.c" .
check "the program builds" gcc -O2 -g $(pmodel flags) -o heat heat.c -lm
check "it is measured, and has models" bash -c '
    pmodel run -q -o heat.pmdb -m r12000,icelake-sp -P N=12:32:4 -- ./heat {N} 2 && pmodel fit heat.pmdb'
check "a page is made" pmodel report --as page -o heat.html -m r12000,icelake-sp -P N=80 heat.pmdb
check "the browser opens it" bash -c 'python3 "$TOP/tests/browser.py" heat.html N=80 heat.png >seen.json' || exit

holds() { # NAME FILTER [FILE]
    local file=${3-seen.json}
    if jq -e "$2" "$file" >/dev/null 2>&1; then pass "$1"; else fail "$1" "$(jq -c "del(.rows, .descending, .ascending, .by_name, .lines)" "$file" | head -c 1500)"; fi
}
holds "nothing is said on the console" '.console == []'
holds "nothing is loaded" '.requests == []'
holds "it begins with the size of -P" '.headline | startswith("N=80 on ")'
holds "it has four pictures or more, each with a text" '(.pictures | length) >= 6 and all(.pictures[]; length > 40) and .captions >= 6 and any(.pictures[]; startswith("Roofline"))'
holds "the hottest loop's source is marked" '.lines | any(test("k"))'
holds "no control is without a label" '.unlabelled == 0'

# The cells of the table in the browser, in the order of the report's columns.
jq -r '.heads as $h | .rows[] | . as $r | [["TIME", "%", "LOOP", "SOURCE", "BOUND BY"][], ($h[] | select(endswith("/it")))] |
    map(. as $name | $r[$h | index($name)]) | @tsv' seen.json | sort >page.txt
pmodel report heat.pmdb -m r12000 -P N=80 --min-percent 0 --wide | awk '/^ *TIME/ { on = 1; next } /^notes:/ { on = 0 }
    on && !/not counted/ { sub(/^ +/, ""); gsub(/  +/, "\t"); print }' | sort >table.txt
check "what it shows agrees with the report to the last digit" bash -c '[ -s page.txt ] && diff table.txt page.txt'

seconds='def seconds: capture("(?<n>[0-9.]+) (?<u>[a-z]+)") | (.n | tonumber) * {s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9}[.u];'
holds "a click on a head sorts, largest first" "$seconds"' [.descending[][1] | seconds] | . == (sort | reverse)'
holds "another turns it" "$seconds"' [.ascending[][1] | seconds] | . == sort'
holds "names sort from A" '[.by_name[][0]] as $n | ($n | length) > 10 and ($n | first) < ($n | last)'
holds "an arrow key moves the slider" '.slid[0] != .slid[1]'
holds "the slider goes through sixty sizes, those of -P and the measured ones" '(.sizes | length) >= 55 and (.sizes | index("N=80")) and (.sizes | first) == "N=12"'
holds "each position is drawn at once" '.slide_ms < 100'
holds "machines can be chosen, each with its levels" '.machines[0][1] != .machines[1][1] and .machines[0][0] != .machines[1][0]'
holds "arrow keys move between loops" '.moved[0] != .moved[1] and .moved[0] == .moved[2]'
holds "left closes, right opens" '.closing[1] < .closing[0] and .closing[2] == .closing[0]'
holds "nothing sticks out at 360, 1000 and 2560 pixels" '.widths | length == 3 and all(.[0] <= .[1])'
holds "it is dark where the reader's system is" '.colours.light[0] == "rgb(255, 255, 255)" and .colours.dark[0] != .colours.light[0] and .colours.dark[1] != .colours.light[1]'

# ---- 300 loops, three machines

many() {
    echo '#include <stdlib.h>'
    for i in {1..100}; do
        echo "__attribute__((noipa)) static void nest$i(double *restrict a, const double *restrict b, long n) {
    for (long i = 1; i < n - $((1 + i % 9)); i++)
        for (long j = 1; j < n - 1; j += $((1 + i % 2)))
            for (long k = 1; k < n - 1; k += $((1 + i % 4)))
                a[(i * n + j) * n + k] = $i * b[(i * n + j) * n + k - $((i % 2))] + b[((i + $((i % 3 - 1))) * n + j) * n + k];
}"
    done
    echo 'int main(int argc, char **argv) {
    long n = atol(argv[argc - 1]);
    double *a = calloc(n * n * n, sizeof *a), *b = calloc(n * n * n, sizeof *b);'
    for i in {1..100}; do echo "    nest$i(a, b, n);"; done
    echo '    return a[n] != 0; }'
}
many >many.c
check "a program of 300 loops builds" gcc -O2 -g $(pmodel flags) -o many many.c
check "it is measured, and has models" bash -c '
    pmodel run -q -o many.pmdb -m icelake-sp,zen4,neoverse-v1 -P N=12:32:4 -- ./many {N} && pmodel fit many.pmdb'
check "its page is made" pmodel report --as page -o many.html -m icelake-sp,zen4,neoverse-v1 -P N=80 many.pmdb
check "it has its loops" bash -c 'python3 "$TOP/tests/page.py" facts many.html | jq -e ".rows >= 300 and (.machines | length) == 3 and (.points | length) >= 60"'
check "it is smaller than 2 MB" bash -c 'stat -c %s many.html; [ "$(stat -c %s many.html)" -lt 2000000 ]'
check "the browser opens it, too" bash -c 'python3 "$TOP/tests/browser.py" many.html N=80 >many.json'
holds "within a second" '.ready_ms < 1000' many.json
holds "without a complaint" '.console == []' many.json
echo "page of 300 loops: $(stat -c %s many.html) bytes, open in $(jq .ready_ms many.json) ms, $(jq '.slide_ms | round' many.json) ms for a size"
