# Helpers for the end-to-end scripts: `. "$TOP/tests/lib.sh"`. tests/README.md says how to write
# one. tests/run counts the lines that begin with "ok - " and "FAIL - ".
# shellcheck shell=bash
set -u -o pipefail

# By hand: TOP=$PWD BUILD=$PWD/build bash tests/e2e/NAME.sh
: "${TOP:?set TOP to the top of the source tree}" "${BUILD:?set BUILD to the build folder}"
if [ -z "${TMP-}" ]; then
    TMP=$(mktemp -d)
    cd "$TMP" || exit 1
    echo "scratch directory: $TMP"
fi
# shellcheck source=tests/build_once.bash
. "$TOP/tests/build_once.bash"
export TOP BUILD TMP PMODEL=${PMODEL-$BUILD/bin/pmodel}
export PATH=$BUILD/bin:$PATH

# pass NAME
pass() {
    printf 'ok - %s\n' "$1"
}

# fail NAME WHY
fail() {
    printf 'FAIL - %s: %s\n' "$1" "${2-}"
}

# check NAME COMMAND...: passes if the command ends with status 0. Its output is shown if not.
check() {
    local name=$1 status=0 output
    shift
    output=$(mktemp "$TMP/check.XXXXXX")
    "$@" >"$output" 2>&1 || status=$?
    if [ "$status" -eq 0 ]; then
        pass "$name"
    else
        fail "$name" "status $status from: $*"
        sed 's/^/    /' "$output" | tail -n 40
    fi
    rm -f "$output"
    return "$status"
}

# expect_error NAME STATUS PATTERN COMMAND...: passes if the command ends with STATUS and its
# standard error has a line that the extended regular expression PATTERN matches.
expect_error() {
    local name=$1 expected=$2 pattern=$3 status=0 errors
    shift 3
    errors=$(mktemp "$TMP/errors.XXXXXX")
    "$@" >/dev/null 2>"$errors" || status=$?
    if [ "$status" -ne "$expected" ]; then
        fail "$name" "status $status, not $expected, from: $*"
        sed 's/^/    /' "$errors" | tail -n 40
    elif ! grep -qE -e "$pattern" "$errors"; then
        fail "$name" "no line of standard error matches '$pattern', from: $*"
        sed 's/^/    /' "$errors" | tail -n 40
    else
        pass "$name"
    fi
    rm -f "$errors"
}

# wait_for COMMAND...: until it succeeds, for a minute.
wait_for() {
    local tries
    for ((tries = 0; tries < 1200; tries++)); do
        "$@" && return
        sleep 0.05
    done
    return 1
}

# rounds MANY FEW: how often a script repeats what goes wrong seldom: MANY times in `make check-real` (real/rounds), FEW times
# otherwise.
rounds() {
    if [ -n "${PMODEL_LONG_TESTS-}" ]; then echo "$1"; else echo "$2"; fi
}

# build_instrument_tool: $TMP/instrument_tool, the rewriter alone as a program.
build_instrument_tool() {
    local libraries
    read -ra libraries <"$BUILD/ldlibs"
    build_once instrument_tool "$TMP/instrument_tool" gcc -std=gnu11 -O1 -g -fopenmp -I"$TOP" -o "$TMP/instrument_tool" \
        "$TOP/tests/rewrite/instrument_tool.c" -Wl,--start-group "$BUILD"/libpm_binlift.a \
        "$BUILD"/libpm_measure.a "$BUILD"/libpm_core.a -Wl,--end-group "${libraries[@]}"
}
