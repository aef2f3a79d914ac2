#!/usr/bin/env bash
# A part of `make validate`: what is lifted, from the corpus and the example applications built with many options,
# compared with the compiler's final control-flow graph and strides, and the strides of the applications with
# traces by valgrind's lackey. Writes $BUILD/validate/lifting.jsonl and traces.jsonl, and docs/lifting.md. Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/counts/lifting.sh
# Fails if a routine differs with metadata, a jump table's targets differ, a cause has no name, or a
# step of a trace is not explained.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
export TOP
# shellcheck source=tests/corpus/corpus.bash
. "$TOP/tests/corpus/corpus.bash"
# shellcheck source=tests/truth/tools.sh
. "$TOP/tests/truth/tools.sh"
new_folder validate/lifting

options_list() {
    cat <<'OPTIONS'
-O0
-O1
-O2
-O3
-Os
-O3 -funroll-loops
-O3 -march=x86-64-v3
-O3 -march=x86-64-v4
-O3 -march=x86-64-v4 -funroll-loops -no-pie
-O2 -fPIC
-O2 -no-pie -fno-pie
-O0 -no-pie -fno-pie
-O2 -fcf-protection=full
-O2 -flto
-O3 -flto -march=x86-64-v3
OPTIONS
}

# All sources with the options of one line.
compare_with() {
    local number=$1 options=$2 source program
    mkdir -p "$folder/$number"
    for source in $(corpus_sources all); do
        program=$folder/$number/program
        # shellcheck disable=SC2086 # several options
        { corpus_build "$source" "$program" $options &&
            corpus_compare "$program" "$(basename "$source")" "$options"; } \
            >>"$folder/$number.jsonl" 2>>"$folder/$number.errors" ||
            say "$source with $options: $(tail -1 "$folder/$number.errors")"
    done
    say "lifting: $options"
}

# Traces: N and arguments are small, since lackey prints each instruction.
trace_all() {
    local app arguments
    export TMP=$folder
    cd "$folder"
    truth_tool check_strides
    while read -r app arguments; do
        # shellcheck disable=SC2086 # several arguments
        truth_app "$app" -no-pie && truth_lackey "$app" $arguments >"$app.out" 2>&1 || die "$app does not run"
        ./check_strides "$app" "$app.lackey" >"$app.strides" || true
        { jq -n -c --arg name "$app" --arg arguments "$arguments" --arg lines "$(grep '^  ' "$app.strides" || true)" \
            --argjson counts "$(tail -1 "$app.strides")" \
            '{name: $name, arguments: $arguments, counts: $counts, lines: ($lines | split("\n"))}'; } >>traces.jsonl
        rm -f "$app.lackey"
        say "trace: $app $arguments"
    done <<'APPS'
heat 10 2
adi 8 1
cg 6 1
fft 16 1
matmul 16 ijk
multigrid 16 1
ssor 8 1
sweep 8 1
APPS
}

number=0
while read -r options; do
    number=$((number + 1))
    if [ "$(jobs -rp | wc -l)" -ge "${JOBS:-$(nproc)}" ]; then wait -n || true; fi
    compare_with "$(printf '%02d' $number)" "$options" &
done < <(options_list)
wait
(trace_all)
cat "$folder"/[0-9]*.jsonl >"$BUILD/validate/lifting.jsonl"
cp "$folder/traces.jsonl" "$BUILD/validate/traces.jsonl"
expected=$(($(corpus_sources all | wc -l) * number))
[ "$(wc -l <"$BUILD/validate/lifting.jsonl")" -eq "$expected" ] ||
    die "of $expected programs some do not build or cannot be compared (the messages above say which)"
page=${LIFTING_PAGE:-$TOP/docs/lifting.md}
jq -s -r -L "$here" --slurpfile traces "$BUILD/validate/traces.jsonl" 'include "lifting"; page($traces)' \
    "$BUILD/validate/lifting.jsonl" | wrap >"$page"
jq -s -L "$here" --slurpfile traces "$BUILD/validate/traces.jsonl" 'include "lifting"; figures($traces)' \
    "$BUILD/validate/lifting.jsonl" >"$BUILD/validate/lifting_figures.json"
problems=$(jq -s -r -L "$here" --slurpfile traces "$BUILD/validate/traces.jsonl" 'include "lifting"; problems($traces)[]' \
    "$BUILD/validate/lifting.jsonl")
[ -z "$problems" ] || die "$problems"
