# `pmodel compare`: its times are those of the reports, weights count, and a size or weight that is none is
# told.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

truth_app heat || fail "heat builds"
truth_app sweep || fail "sweep builds"
check "heat is measured" pmodel run -q -m r12000,icelake-sp -o heat.pmdb -P N=12,16,20,24,28 -- ./heat '{N}'
check "heat is fitted" sh -c 'pmodel fit heat.pmdb >fit.out'
check "sweep is measured" pmodel run -q -m r12000,icelake-sp -o sweep.pmdb -P N=10 -- ./sweep '{N}'
pmodel compare -m r12000,icelake-sp --format json heat.pmdb@N=100:3 sweep.pmdb >compare.json
check "times are those of the reports" jq -e -n --slurpfile c compare.json \
    --slurpfile h <(pmodel report -m r12000,icelake-sp -P N=100 --format json heat.pmdb) \
    --slurpfile s <(pmodel report -m r12000,icelake-sp --format json sweep.pmdb) '
    def of($name): $c[0].machines[] | select(.name == $name) | .seconds;
    all($h[0].predictions[]; . as $p | of($p.machine.name)[0] | .estimate == $p.seconds and .low == $p.low_seconds and
        .high == $p.high_seconds) and
    all($s[0].predictions[]; . as $p | of($p.machine.name)[1].estimate == $p.seconds)'
check "the score is their weighted sum" jq -e 'all(.machines[];
    (3 * .seconds[0].estimate + .seconds[1].estimate - .score | fabs) < 1e-9 * .score)' compare.json
check "the faster machine is first, and that is sure" jq -e '.survives and (.machines | map(.name)) == ["icelake-sp", "r12000"] and
    (.machines | map(.rank)) == [1, 2]' compare.json
check "a geometric mean" sh -c 'pmodel compare --mean geometric -m r12000,icelake-sp --format json heat.pmdb@N=100:3 sweep.pmdb |
    jq -e ".machines[0].score == 1 and .machines[1].score > 1"'
check "a machine beside itself is not told apart" sh -c 'pmodel compare -m icelake-sp,icelake-sp heat.pmdb@N=100 >text &&
    grep -q "^ *1-2 " text && grep -q "not told apart" text'
expect_error "a weight that is none" 2 'a weight above 0' pmodel compare -m r12000,icelake-sp heat.pmdb:-1
expect_error "a size that is none" 2 'heat.pmdb@N=' pmodel compare -m r12000,icelake-sp heat.pmdb@N=x
expect_error "one machine" 2 'two or more machines' pmodel compare -m r12000 heat.pmdb
expect_error "no store" 2 'one or more stores' pmodel compare -m r12000,icelake-sp
