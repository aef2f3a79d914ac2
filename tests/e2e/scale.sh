# `pmodel report --as scaling`: its figures are those of `pmodel report` and of the runs, size by size; the drawing is well-formed.
. "$TOP/tests/lib.sh"

cp "$TOP/bench/apps/heat/heat.c" .
check "the program builds" gcc -O2 -g $(pmodel flags) -o heat heat.c -lm
check "it is measured, and timed at one size" bash -c "
    pmodel run -q -o heat.pmdb -m r12000,icelake-sp -P N=12:32:4 -- ./heat {N} 2 &&
    pmodel run -q --time --time-runs 1 -o heat.pmdb -m r12000,icelake-sp -P N=32 -- ./heat {N} 2"
expect_error "without models a size that was not measured is refused" 2 'pmodel fit' \
    pmodel report --as scaling -P N=16,64 -m r12000 heat.pmdb
check "models" pmodel fit heat.pmdb
pmodel report --as scaling -P N=20:80:20 -m r12000,icelake-sp --per '2*N^3' --format json heat.pmdb >scale.json
pmodel report heat.pmdb -m r12000 -P N=80 --format json >report.json
holds() {
    if jq -e "$2" --slurpfile report report.json scale.json >/dev/null 2>&1; then pass "$1"; else fail "$1" "$(jq -c "$2" --slurpfile report report.json scale.json 2>&1 | head -c 300)"; fi
}
holds "measured sizes of the range are added" '[.sizes[].value] == [20, 24, 28, 32, 40, 60, 80]'
holds "each size on each machine, and measured where it was" \
    '[.sizes[] | [.figures[].source] | join(" ")] | .[0] == "predicted measured predicted measured" and .[6] == "predicted predicted"'
holds "a prediction is that of the report" \
    '.sizes[6].figures[0] | .seconds as $s | .machine == "r12000"
     and ($report[0].predictions[0].seconds // $report[0].predictions[0].predicted_seconds) as $r | ($r == null or ($s / $r - 1 | fabs) < 1e-9)'
holds "an interval is that of the report" \
    '.sizes[6].figures[0] as $here | $report[0].predictions[0] as $there
     | [("low_seconds", "high_seconds") as $at | ($here[$at] / $there[$at] - 1 | fabs) < 1e-9] | all'
holds "figures for a unit are those of the run by the number of units" \
    '.sizes | all(.unit as $unit | $unit == 2 * .value * .value * .value and (.figures | all(.level_misses as $all
       | .level_misses_per_unit | to_entries | all((.value * $unit - $all[.key] | fabs) <= 1e-6 * $all[.key]))))'
holds "schedule, bandwidth, first touches and levels add up to the cycles" \
    '[.sizes[].figures[] | select(.source == "predicted")
      | ((([.level_cycles[]] | add) + .schedule_cycles + .bandwidth_cycles + .first_touches_cycles) / .cycles - 1 | fabs) < 1e-6] | all'
holds "intervals hold their predictions" \
    '[.sizes[].figures[] | select(.source == "predicted") | .low_seconds <= .seconds and .seconds <= .high_seconds] | all'
holds "a clock is where the size was timed, and nowhere else" \
    '[.sizes[] | {value, timed: ([.figures[] | select(.source == "measured") | .seconds] | any(. != null))} | select(.timed) | .value] == [32]
     and .timed_on != null'
holds "loops fall out of levels of both machines" '[.steps[].machine] | unique == ["icelake-sp", "r12000"]'
pmodel query --fits heat.pmdb -m r12000 --format json >fits.json
holds "where they do is what query says" \
    '[.steps[] | select(.machine == "r12000") | .hits_up_to] | length > 3 and all(. > 0)'

pmodel report --as scaling -P N=20:80:20 -m r12000 --format csv heat.pmdb | tr -d '\r' >scale.csv
if awk -F, 'NR == 1 { n = NF } NF != n { bad = 1 } END { exit bad || NR < 30 || n != 9 }' scale.csv; then
    pass "CSV has a line for each figure"
else
    fail "CSV has a line for each figure" "$(head -3 scale.csv)"
fi
pmodel report --as scaling -P N=20:80:20 -m r12000,icelake-sp --per N^3 --format svg heat.pmdb >scale.svg
check "the drawing is well-formed" xmllint --noout scale.svg
if [ "$(grep -c "class='title'.*>misses<" scale.svg) $(grep -c "class='title'.*>time<" scale.svg)" = "2 2" ] &&
    grep -q '>misses per N^3<' scale.svg && grep -q '>cycles per N^3<' scale.svg && grep -q '>N</text>' scale.svg; then
    pass "it has two panels for each machine, with axes that say what they are"
else
    fail "it has two panels for each machine, with axes that say what they are" "$(grep title scale.svg)"
fi
check "what is beyond the measured sizes is dashed" grep -q "class='curve s0 beyond'" scale.svg
check "what was measured is dots" grep -q "<circle class='dot s0'" scale.svg
