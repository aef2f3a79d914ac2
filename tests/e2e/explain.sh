# `pmodel report --as loop`: its figures are those of the other reports, its parts add up, and what it suggests
# for loops of which it is known what helps them is that.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

read -ra marks < <(pmodel flags)

# ---- what helps is known -----------------------------------------------------------------------------

check "the program builds" gcc -O2 -g -fno-tree-vectorize "${marks[@]}" -o habits "$TOP/tests/programs/habits.c"
check "the program is measured" pmodel run -q -m r12000 --carry --bytes -o habits.pmdb -P T=1,2 -- ./habits '{T}'

# suggests ROUTINE WORD: the first suggestion for the hottest loop of ROUTINE
suggests() {
    local found
    found=$(pmodel report --as loop -m r12000 -P T=2 --format json habits.pmdb "$1" | jq -r '[.suggestions[].try] | join(", ")') &&
        echo "$1: $found" && [[ $found == "$2"* ]]
}
check "a loop after a loop over the same data: fuse" suggests "habits.c:$(grep -n "sum += a" "$TOP/tests/programs/habits.c" | awk -F: "{ print \$1 - 1 }")" fuse
check "columns of rows: interchange" suggests by_columns/2 interchange
check "one member of a structure: split it" suggests one_member split
check "data picked in no order: sort" suggests picked/2 sort
check "lines in few sets: pad" suggests same_sets/2 pad
check "a chain: several" suggests chain several

# ---- the same figures as elsewhere -------------------------------------------------------------------

truth_app heat || fail "heat builds"
check "heat is measured" pmodel run -q -m r12000 -o heat.pmdb -P N=12,16,20,24,28,32 -- ./heat '{N}'
check "heat is fitted" sh -c 'pmodel fit heat.pmdb >fit.out'
pmodel report --as loop -m r12000 -P N=100 --format json heat.pmdb step/4 >explain.json
pmodel report -m r12000 -P N=100 --format json heat.pmdb >report.json
check "causes add up to the loop's cycles" jq -e '.loop as $l | ([.causes[].cycles_per_iteration] | add) as $sum |
    ($sum - $l.self.cycles / $l.iterations | fabs) < 1e-6 * $sum' explain.json
check "groups' misses add up to the loop's" jq -e '.loop.self.misses as $m | .groups as $g | $m | keys | all(. as $l |
    (([$g[].misses[$l] // 0] | add) - $m[$l] | fabs) <= 1e-6 * $m[$l])' explain.json
check "groups' cycles add up to what misses cost it" jq -e '.loop.self.memory_cycles as $m |
    (([.groups[].miss_cycles // 0] | add) - $m | fabs) <= 1e-9 * $m' explain.json
check "the loop is the report's row" jq -e -n --slurpfile e explain.json --slurpfile r report.json '
    $e[0].loop as $l | $r[0].predictions[0].rows | map(select(.key == $l.key)) | .[0] == $l'
check "gains are at most the loop's cycles" jq -e '.loop as $l | all(.causes[].gain_cycles_per_iteration; . == null or
    (. >= 0 and . <= $l.self.cycles / $l.iterations))' explain.json
# The formula of the iterations, at the size, is their number.
at_size() {
    local formula
    formula=$(jq -r .counts.iterations.formula explain.json) && echo "$formula" &&
        awk "BEGIN { N = 100; x = $formula; exit !(x == $(jq .counts.iterations.count explain.json)) }"
}
check "the formula of the iterations gives their number" at_size
check "levels are left at the sizes that query says" sh -c '
    pmodel query --fits -m r12000 --scope step/4 --format json heat.pmdb | jq -c "[.answers[].steps[].up_to]" >query.fits
    jq -c "[.fits[0].levels[].steps[].up_to]" explain.json | diff - query.fits'
check "one screen" sh -c '[ "$(pmodel report --as loop -m r12000 -P N=100 heat.pmdb step/4 | wc -l)" -le 50 ]'
check "what was not measured says how to" sh -c 'pmodel report --as loop -m r12000 heat.pmdb step/4 >text &&
    grep -q -e "--carry" text && grep -q -e "--bytes" text'
check "a routine stands for its loops" sh -c 'pmodel report --as loop -m r12000 heat.pmdb step | grep -q "^step/4.*"'
check "without a loop the hottest" sh -c 'pmodel report --as loop -m r12000 heat.pmdb | grep -q "^step/4.*"'

# ---- source ------------------------------------------------------------------------------------------

mkdir moved && cp "$TOP/bench/apps/heat/heat.c" moved/
mkdir built && cp "$TOP/bench/apps/heat/heat.c" built/
check "heat builds in a folder" gcc -O2 -g "${marks[@]}" -o far built/heat.c -lm
check "it is measured" pmodel run -q -m r12000 -o far.pmdb -P N=12 -- ./far '{N}'
check "the source beside it" sh -c 'pmodel report --as loop -m r12000 --source far.pmdb residual/3 | grep -q "^ *139  .*distance"'
rm -r built
check "a source that is not there any more says how to point at it" sh -c \
    'pmodel report --as loop -m r12000 --source far.pmdb residual/3 | grep -q -e "--source-dir FOLDER"'
check "a source that was moved" sh -c \
    'pmodel report --as loop -m r12000 --source-dir moved far.pmdb residual/3 | grep -q "^ *139  .*distance"'

# ---- mistakes ----------------------------------------------------------------------------------------

expect_error "no such loop" 2 'no loop is called "stepp/4".*did you mean step/4' pmodel report --as loop -m r12000 heat.pmdb stepp/4
expect_error "no machine" 2 'give one machine' pmodel report --as loop heat.pmdb step
expect_error "no store" 2 'give one store' pmodel report --as loop -m r12000
expect_error "a machine whose blocks were not measured" 2 'measures them' pmodel report --as loop -m itanium2 heat.pmdb step
