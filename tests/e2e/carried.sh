# What carries each reuse: programs whose reuse patterns are known by hand, marked and plain, at -O0 and
# -O2; and on a real application the patterns of a group add up to its histogram, which is the one of a
# run without --carry.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

read -ra marks < <(pmodel flags)

# patterns CASE OBJECT: "source > destination carrier iterations loads+stores" of reuses of OBJECT, one a
# line.  A loop is ROUTINE/DEPTH.
patterns() {
    pmodel show --as carried "$program.pmdb" -P "CASE=$1" --group "$2" --block 64 | jq -r '
        def bare: split(" ")[0];
        [.runs[].histograms[] | {
            key: "\(.source.label | bare) > \(.scope.label | bare) \(.carrier.label | bare) \(
                if .across then "across" else "within" end)",
            n: ([.bins[] | .loads + .stores] | add)}] |
        group_by(.key)[] | "\(.[0].key) \(map(.n) | add)"' | sort
}

# has TITLE CASE OBJECT LINE...: exactly these patterns.
has() {
    local title=$1 case=$2 object=$3
    shift 3
    printf '%s\n' "$@" | sort >expected
    patterns "$case" "$object" >found
    check "$program: $title" diff expected found
}

for level in 0 2; do
    for marked in marked plain; do
        program=patterns-$level-$marked
        options=(-g "-O$level" -pthread -no-pie)
        [ $marked = plain ] || options+=("${marks[@]}")
        check "$program builds" gcc "${options[@]}" -o "$program" "$TOP/tests/programs/patterns.c" ||
            continue
        check "$program is measured" pmodel run -q --carry --block 64 -o "$program.pmdb" \
            -P CASE=1,2,3,4,5 -- "./$program" '{CASE}' || continue
        has "two loops: within a step, and across steps" 1 a \
            "first/1 > second/1 two/1 within 120" "second/1 > first/1 two/1 across 80"
        has "a stencil's rows are carried by the loop over rows" 2 s \
            "stencil/2 > stencil/2 stencil/1 across 100"
        has "in a recursion the activation that goes on carries" 3 a \
            "first/1 > first/1 recursion within 360"
        has "a loop that is left by longjmp is left" 4 a \
            "until_half/1 > until_half/1 jump/1 across 42"
        has "threads have reuses of their own" 5 a "first/1 > first/1 twice within 80"
    done
done

# ---- the whole is the sum of its parts --------------------------------------------------------------

# Both runs have environments of the same length, on which places on the stack depend.
measure_app() {
    local store=$1
    shift
    $fixed_addresses "$PMODEL" run -q -o "$store" --block 64,4096 --bin-width 0 "$@" -P N=10 -P STEPS=2 \
        -- ./adi '{N}' '{STEPS}' >adi.out 2>&1
}
fixed_addresses='setarch -R'
$fixed_addresses true 2>/dev/null || fixed_addresses=''
truth_app adi || fail "adi builds"
check "adi is measured" measure_app plain.pmdb --env PMODEL_carry=1
check "adi is measured with --carry" measure_app carried.pmdb --carry
for store in plain carried; do
    pmodel show --as histograms "$store.pmdb" --format csv >"$store.csv"
done
if [ "$fixed_addresses" ]; then
    check "--carry does not change a histogram" cmp plain.csv carried.csv
fi

# bins FILE: "group block low high loads stores" of all reuses, added up.
bins() {
    jq -r '[.runs[].histograms[] | .group.group as $group | .block_bytes as $block | .bins[] |
        {key: "\($group) \($block) \(.low) \(.high)", loads, stores}] | group_by(.key)[] |
        "\(.[0].key) \(map(.loads) | add) \(map(.stores) | add)"' "$1"
}
pmodel show --as carried carried.pmdb >patterns.json
pmodel show --as histograms carried.pmdb >carried.json
bins carried.json >whole
bins patterns.json >sum
check "patterns add up to the histograms of their groups" sh -c "[ -s whole ] && diff whole sum"
check "there are several patterns" sh -c '[ "$(grep -c across patterns.json)" -gt "$(grep -c bins carried.json)" ]'

# ---- what cannot be asked for ------------------------------------------------------------------------

expect_error "a report of a run without --carry" 2 "made with --carry" \
    pmodel report --as carried -m r12000 plain.pmdb
expect_error "an export of a run without --carry" 2 "not made with --carry" \
    pmodel show --as carried plain.pmdb
expect_error "a machine whose blocks were not measured" 2 'pmodel run -o carried.pmdb -m r12000 .*--carry.* measures them' \
    pmodel report --as carried -m r12000 carried.pmdb
expect_error "--carry without accesses" 2 "exclude each other" \
    pmodel run --carry --no-memory -o no.pmdb -- ./adi
expect_error "--carry of a sample" 2 "sample and --carry exclude each other" \
    pmodel run --carry --sample 1/8 -o no.pmdb -- ./adi
expect_error "patterns by thread" 2 'cannot read option "--threads"' \
    pmodel show --as carried --threads carried.pmdb

# With --shared the stream of all threads has its histograms beside.
check "--carry and --shared" pmodel run -q --carry --shared --block 64 -o shared.pmdb -P CASE=5 \
    -- ./patterns-2-plain '{CASE}'
pmodel show --as histograms --shared shared.pmdb --group a >shared.json
check "reuses of the shared stream are those of one cache" jq -e \
    '[.runs[].histograms[] | (.cold_loads, .bins[].loads)] | add == 160' shared.json

# Beside the program the same is found.
check "--carry and --second-core" pmodel run -q --carry --second-core --block 64 \
    -o second.pmdb -P CASE=1,4,5 -- ./patterns-2-plain '{CASE}'
program=second
has "two loops, analysed beside the program" 1 a \
    "first/1 > second/1 two/1 within 120" "second/1 > first/1 two/1 across 80"
has "a loop that is left by longjmp, analysed beside the program" 4 a \
    "until_half/1 > until_half/1 jump/1 across 42"
has "threads, analysed beside the program" 5 a "first/1 > first/1 twice within 80"

# A run without --carry does not take the patterns away, one with it is not repeated.
$PMODEL run -o patterns-2-plain.pmdb --block 64 -P CASE=1 -- ./patterns-2-plain '{CASE}' 2>again
$PMODEL run -o patterns-2-plain.pmdb --block 64 --carry -P CASE=1 -- ./patterns-2-plain '{CASE}' \
    2>>again
program=patterns-2-plain
has "patterns stay where the run is there already" 1 a \
    "first/1 > second/1 two/1 within 120" "second/1 > first/1 two/1 across 80"

# ---- the report: rows add up to the misses of the prediction --------------------------------------------

check "adi is measured for a machine" $PMODEL run -q -m r12000 --carry -o machine.pmdb -P N=10 -P STEPS=2 \
    -- ./adi '{N}' '{STEPS}'
pmodel report --as carried -m r12000 --format json machine.pmdb >report.json
pmodel report -m r12000 --format json machine.pmdb >prediction.json
check "rows add up to the whole" jq -e '.machines[0] as $m | [$m.levels[].name] |
    all(. as $l | ([$m.rows[].misses[$l]] | add) - $m.misses[$l] | fabs < 0.5)' report.json
check "the whole are the misses of the prediction" jq -e -n --slurpfile r report.json \
    --slurpfile p prediction.json '$r[0].machines[0].misses.L1 > 0 and
    ([$p[0].predictions[0].rows[].self.misses.L1] | add) as $sum |
    ($sum - $r[0].machines[0].misses.L1 | fabs) < 0.001 * $sum'
check "the CSV has the same misses" sh -c 'test "$(pmodel report --as carried -m r12000 --format csv \
    machine.pmdb | grep -c ,L1,)" = "$(jq "[.machines[0].rows[] | select(.misses.L1 > 0)] | length" \
    report.json)"'
check "the table names carriers and what to try" sh -c \
    'pmodel report --as carried -m r12000 machine.pmdb | grep -q "adi/1 step.*within.*fuse"'

