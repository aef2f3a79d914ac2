# `pmodel report --as plot` and `pmodel report --as page`: drawings are well-formed and say what they show; a page's figures are those
# of the table, to the last digit. A browser looks at the page in tests/real/page.sh.
. "$TOP/tests/lib.sh"

cp "$TOP/bench/apps/heat/heat.c" .
check "the program builds" gcc -O2 -g $(pmodel flags) -o heat heat.c -lm
check "it is measured" pmodel run -q -o heat.pmdb -m r12000 -P N=12:32:4 -- ./heat {N} 2
check "without models there is a page of the measured sizes" bash -c '
    pmodel report --as page -o bare.html -m r12000 heat.pmdb &&
    python3 "$TOP/tests/page.py" facts bare.html | jq -e "[.points[] | .value] == [12, 16, 20, 24, 28, 32] and all(.points[]; .measured)"'
check "models" pmodel fit heat.pmdb

# ---- plot
for what in time misses histogram surface roofline; do
    check "plot --what $what is written" pmodel report --as plot --what $what -m r12000 -P N=80 --sizes 8 -o $what.svg heat.pmdb step/4
    check "plot --what $what is well-formed" xmllint --noout $what.svg
done
has() {
    check "$1" grep -qE -e "$3" "$2"
}
has "time has its unit, and the size's name" time.svg '>cycles of an iteration<'
has "time: areas by cause" time.svg "<path class='area s0' d='M[0-9]"
has "time: the causes are named" time.svg '>L2 misses<'
has "time: where the measured sizes end" time.svg '>predicted beyond here<'
has "misses have their unit" misses.svg '>misses for each iteration<'
has "misses: what is beyond the measured sizes is dashed" misses.svg "class='curve s[0-9] beyond'"
check "misses: a dot for each measured size that misses" [ "$(grep -c "<circle class='dot s0'" misses.svg)" = 6 ]
has "the histogram says its size, and that it is predicted" histogram.svg 'step/4 k.*N=80 on .*, predicted'
has "the histogram has the capacities as cuts" histogram.svg '>L1: [0-9]+% nearer<'
has "the surface: as measured" surface.svg '>measured, blocks of 32 bytes<'
has "the surface: and as modelled" surface.svg '>modelled, blocks of 32 bytes<'
check "the surface has facets for both" [ "$(grep -c "class='facet'" surface.svg)" -gt 400 ]
check "all have a title and a description for those who do not see them" bash -c '
    for f in time misses histogram surface; do grep -q "<title>" $f.svg && grep -q "<desc>" $f.svg || exit 1; done'
has "the roofline has the loop" roofline.svg 'step/4'
check "and no other" bash -c '! grep -q "initialise/3" roofline.svg'
check "the program as a whole" pmodel report --as plot --what misses -m r12000 --sizes 4 -o whole.svg heat.pmdb
pmodel report --as plot --what histogram -m r12000 -P N=32 heat.pmdb step/4 >measured.svg
has "a measured size is said to be" measured.svg 'N=32 on .*, measured'
pmodel query heat.pmdb -P N=80 --cache 32KiB --block 32 --scope step/4 --level loop --format json >query.json
expect_error "no picture named" 2 'which picture' pmodel report --as plot -m r12000 heat.pmdb
expect_error "a picture that there is not" 2 'time, misses, histogram, surface, roofline' pmodel report --as plot --what pie -m r12000 heat.pmdb
expect_error "no machine" 2 'one machine' pmodel report --as plot --what time heat.pmdb
expect_error "a loop that there is not" 2 'no routine or loop is called stepp/4' pmodel report --as plot --what time -m r12000 heat.pmdb stepp/4
expect_error "a machine whose blocks were not measured" 2 'block' pmodel report --as plot --what time -m itanium2 --sizes 2 heat.pmdb
check "nothing is left where it failed" bash -c '
    ! pmodel report --as plot --what time -m r12000 -o none.svg heat.pmdb stepp/4 2>none.err && [ ! -e none.svg ] && [ ! -e none.svg.part ]'

# ---- html
check "a page is made" pmodel report --as page -o heat.html -m r12000 --sizes 10 -P N=80,100 heat.pmdb
python3 "$TOP/tests/page.py" facts heat.html >facts.json
holds() {
    if jq -e "$2" facts.json >/dev/null 2>&1; then pass "$1"; else fail "$1" "$(jq -c . facts.json | head -c 400)"; fi
}
holds "its sizes are evenly spaced, those of -P and the measured ones" '
    ([.points[].value] | unique) as $v | ([12, 80, 100, 512, 16, 20, 24, 28, 32] - $v == []) and ($v | length) >= 14'
holds "those of -P are marked" '[.points[] | select(.given) | .value] == [80, 100]'
holds "measured sizes have both figures" '[.points[] | select(.value == 32) | .measured] == [false, true]'
holds "the source is in it" '.sources | any(endswith("heat.c"))'

# agree SIZE: the rows of the table and of the page, cell by cell.
agree() {
    python3 "$TOP/tests/page.py" rows heat.html "N=$1" | sort >page.$1
    pmodel report heat.pmdb -m r12000 -P N=$1 --min-percent 0 --wide | awk '
        /^ *TIME/ { on = 1; next } /^notes:/ { on = 0 } on && !/not counted|outside all timers/ {
            sub(/^ +/, ""); gsub(/  +/, "\t"); print }' | sort >table.$1
    [ -s page.$1 ] && diff table.$1 page.$1
}
check "page and table agree to the last digit at a predicted size" agree 80
check "and at another" agree 100
check "and at a measured one" agree 32
check "a source that has moved is found" bash -c '
    mkdir -p moved && mv heat.c moved/ && pmodel report --as page -o moved.html -m r12000 --sizes 2 --source-dir moved heat.pmdb; mv moved/heat.c . &&
    python3 "$TOP/tests/page.py" facts moved.html | jq -e "any(.sources[]; endswith(\"heat.c\"))"'
check "nothing in it is loaded from elsewhere" bash -c '! grep -nE "(src|href)=|https?://|@import|url\(" heat.html'
has "and nothing may be" heat.html "Content-Security-Policy.*default-src 'none'"
has "it says its language" heat.html '<html lang="en">'
check "each control has a label" bash -c '
    for id in machine size; do grep -q "<label for=\"$id\">" heat.html && grep -q "id=\"$id\"" heat.html || exit 1; done'
check "it is small" bash -c '[ $(stat -c %s heat.html) -lt 200000 ]'
expect_error "no file named" 2 'name the page' pmodel report --as page -m r12000 heat.pmdb
expect_error "no machine for a page" 2 'machines with -m' pmodel report --as page -o x.html heat.pmdb

# ---- none, and several parameters
check "a program without a size" bash -c '
    pmodel run -q -o once.pmdb -m r12000 -- ./heat 12 1 && pmodel report --as page -o once.html -m r12000 once.pmdb &&
    python3 "$TOP/tests/page.py" facts once.html | jq -e "[.points[] | .size] == [\"run 1\"]" &&
    pmodel report --as plot --what time -m r12000 once.pmdb | xmllint --noout -'
cat >two.c <<'C'
#include <stdlib.h>
int main(int argc, char **argv) {
    long rows = atol(argv[1]), columns = atol(argv[2]);
    volatile double *a = calloc(rows * columns, sizeof *a);
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < columns; j++)
            a[i * columns + j] += 1;
    return argc < 3;
}
C
check "a program of two parameters" bash -c '
    gcc -O1 -g $(pmodel flags) -o two two.c &&
    pmodel run -q -o two.pmdb -m r12000 -P A=8,12,16,20,24 -P B=8,16,24,32,40 -- ./two {A} {B} && pmodel fit two.pmdb'
expect_error "one of two has to be given" 2 'depends on A, B: give all but one' pmodel report --as page -o two.html -m r12000 two.pmdb
check "then the other is followed" bash -c '
    pmodel report --as page -o two.html -m r12000 --sizes 4 -P B=16 two.pmdb &&
    python3 "$TOP/tests/page.py" facts two.html | jq -e ".parameter == \"A\" and all(.points[]; .size | endswith(\"B=16\"))"'
check "a formula follows it" bash -c '
    pmodel report --as plot --what misses -m r12000 --sizes 4 -P A=8,64 -P "B=2*A" two.pmdb main/2 -o formula.svg && xmllint --noout formula.svg'
