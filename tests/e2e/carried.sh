# What carries each reuse: programs whose reuse patterns are known by hand, marked and plain, at -O0 and
# -O2; and on a real application the patterns of a group add up to its histogram, which is the one of a
# run without --carry.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

read -ra marks < <(pmodel flags)

# patterns CASE OBJECT: "source > destination carrier iterations loads+stores" of reuses of OBJECT, one a
# line.  A loop is ROUTINE/DEPTH.
patterns() {
    pmodel export --carried -s "$program.pmdb" -P "CASE=$1" --group "$2" --block 64 | jq -r '
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
        check "$program builds" gcc "${options[@]}" -o "$program" "$TOP/tests/carried/patterns.c" ||
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
    pmodel export --histograms -s "$store.pmdb" --format csv >"$store.csv"
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
pmodel export --carried -s carried.pmdb >patterns.json
pmodel export --histograms -s carried.pmdb >carried.json
bins carried.json >whole
bins patterns.json >sum
check "patterns add up to the histograms of their groups" sh -c "[ -s whole ] && diff whole sum"
check "there are several patterns" sh -c '[ "$(grep -c across patterns.json)" -gt "$(grep -c bins carried.json)" ]'
