# What is lifted is the compiler's final control-flow graph: with metadata for every routine, without it but for
# named causes, and all jump tables have the compiler's targets, stripped or not.  A choice of options;
# `make validate` has them all.
. "$TOP/tests/lib.sh"
. "$TOP/tests/corpus/corpus.bash"

# Routines with assembler text that branches.
inner='["asm_branches","asm_skips","asm_goto"]'

# holds NAME FILTER: the filter of jq is true for each line of lifted.json
holds() {
    local found
    found=$(jq -c "select(($2) | not)" lifted.json)
    if [ -s lifted.json ] && [ -z "$found" ]; then
        pass "$1"
    else
        fail "$1" "$(head -c 600 <<<"$found")"
    fi
}

while read -r options; do
    : >lifted.json
    for source in $(corpus_sources); do
        # shellcheck disable=SC2086 # several options
        { corpus_build "$source" "$TMP/program" $options &&
            corpus_compare "$TMP/program" "$(basename "$source")" "$options" >>lifted.json; } ||
            fail "$source builds with $options"
    done
    holds "with metadata every routine has the compiler's graph, $options" \
        '.with_metadata.routines > 0 and .with_metadata.agree == .with_metadata.routines'
    holds "without metadata what differs has a named cause, $options" \
        '[.plain, .stripped | .differ[].cause] | all(. != "other" and . != "not lifted")'
    holds "without symbols cold parts are with their routines, $options" \
        '[.stripped.differ[] | select(.cause == "cold part")] == []'
    holds "without metadata jump tables have the compiler's targets, $options" \
        '[.with_metadata, .plain, .stripped] | all(.tables == .tables_equal)'
    [ "$options" = -O0 ] || holds "without metadata computed gotos have the compiler's targets, $options" \
        '[.plain, .stripped | .differ[] | select(.cause == "computed goto").name] - ["scan"] == []'
    holds "only assembler text has branches that the compiler does not know, $options" \
        ".with_metadata.inner - $inner == []"
    jq -r '[.name, .with_metadata.agree, .plain.agree, .stripped.agree, .plain.routines, .plain.tables,
        (.stripped.differ | map(.name + ": " + .cause) | join("; "))] | @tsv' lifted.json
done <<'OPTIONS'
-O0
-O2
-O3 -march=x86-64-v4 -funroll-loops -no-pie
-Os -fPIC -flto -fcf-protection=full
OPTIONS

# In `scan` one label is certain on some ways, where the compiler's graph has all of them.
corpus_build "$TOP/tests/corpus/jumps.c" "$TMP/jumps" -O2 || fail "jumps.c builds"
strip -R .pmodel -o jumps.stripped jumps
pmodel loops --summary --format csv jumps.stripped >jumps.csv
check "all indirect jumps of a stripped program are resolved" \
    awk -F , 'NR == 2 { exit !($10 >= 15 && $11 == $10) }' jumps.csv

# ---- the comparison itself ----

corpus_build "$TOP/tests/corpus/loops.c" "$TMP/loops" -O2 || fail "loops.c builds"
strip -R .pmodel -o loops.stripped loops
check "the table says what agrees" eval \
    "pmodel loops --check loops | grep -Eq 'with metadata: ([0-9]+) of \1 routines have the compiler'"
check "CSV has a line for each routine and lift" eval \
    '[ "$(pmodel loops --check --format csv loops | wc -l)" -eq "$(pmodel loops --check --format json loops |
        jq ".routines | 2 * length + 1")" ]'
expect_error "a program without metadata cannot be compared" 2 'no compiler metadata' \
    pmodel loops --check loops.stripped

# Another program's code in place of the copy's: nothing may agree by itself.
corpus_build "$TOP/tests/corpus/loops.c" "$TMP/other" -O0 || fail "loops.c builds at -O0"
check "a graph of other code is seen to differ" eval \
    "pmodel loops --check --format json loops other | jq -e '.plain.agree < .plain.routines / 4'"
# An edge that the compiler did not write: the first of a routine (7 from to flags) goes elsewhere.
check "an edge that is missing in the metadata is seen" eval '
    objcopy --dump-section .pmodel=section loops /dev/null &&
    perl -0777 -pe "s/\x07\x00\x02\x01\x07\x02(.)(.)/\x07\x00\x02\x01\x07\x02\x02\$2/s" section >changed &&
    ! cmp -s section changed && objcopy --update-section .pmodel=changed loops damaged &&
    pmodel loops --check --format json damaged | jq -e ".with_metadata.agree < .with_metadata.routines"'
