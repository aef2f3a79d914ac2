# What the scripts about ends have in common: `. "$TOP/tests/endings/endings.bash"` after tests/lib.sh.
# Builds ./ends, its copy ./ends-i, ./status and ./dump.
# shellcheck shell=bash

sources=$TOP/tests/endings
build_once "ends" ends gcc -O1 -g -pthread -Wall -Wextra -Werror -o ends "$sources/ends.c" &&
    build_once "ends status" status gcc -O1 -Wall -Wextra -Werror -o status "$sources/status.c" &&
    build_once "ends dump" dump gcc -std=gnu11 -O1 -I"$TOP" -o dump "$TOP/tests/e2e/runtime/dump_raw.c" \
        "$BUILD/libpm_measure.a" "$BUILD/libpm_core.a" -lxxhash -lzstd -lm &&
    check "the programs are built and instrumented" \
        pmodel run --instrument -q -o ends-i ends || exit

# plainly ARGUMENT...: how `ends` ends is in plain.out, with what it printed, and in plain.err.
plainly() {
    timeout 60 ./status ./ends "$@" >plain.out 2>plain.err
    rm -f core*
}

# instrumented ARGUMENT...: the same of the copy, in other.out and other.err; its raw files are in raw/.
# SETTINGS: variables for it.
instrumented() {
    rm -rf raw && mkdir raw
    # shellcheck disable=SC2086
    env PMODEL_OUT="$PWD/raw" PMODEL_BLOCK=64 ${SETTINGS-} \
        timeout 60 ./status ./ends-i "$@" >other.out 2>other.err
    sed -i 's/ends-i/ends/' other.err
    rm -f core*
}

# marked SIGNAL: one of the raw files says that this signal ended its process (PM_RAW_TRUNCATED), or a child made by
# fork (PM_RAW_FORKED, too), and all can be read.
marked() {
    local flags=$((4 + 256 * $1))
    ./dump raw/*.raw >dumped 2>&1 && grep -qE "flags ($flags|$((flags + 1))) " dumped && ! ls raw/*.tmp >/dev/null 2>&1
}

# same_end TITLE SIGNAL ARGUMENT...: the copy ends as the plain program does, and if by SIGNAL (0: by
# none), its file says so.
same_end() {
    local title=$1 signal=$2
    shift 2
    plainly "$@"
    instrumented "$@"
    if ! cmp -s plain.out other.out || ! cmp -s plain.err other.err; then
        fail "$title" "$(diff plain.out other.out; diff plain.err other.err)"
    elif [ "$signal" -ne 0 ] && ! marked "$signal"; then
        fail "$title" "no raw file has the mark: $(ls raw) $(grep flags dumped)"
    else
        pass "$title"
    fi
}

# random_moments N WAY SETTINGS: N times SIGTERM to the copy, at random moments of the first 60 ms of its work.
# Each time it must die of it, and leave a whole, marked file.
random_moments() {
    local n=$1 way=$2 SETTINGS=$3 wrong=0 i
    for ((i = 0; i < n; i++)); do
        instrumented_at $((RANDOM % 60)) "$way"
        if ! grep -qx 'signal 15' other.out || ! marked 15; then
            wrong=$((wrong + 1))
            echo "$way: $(cat other.out) $(ls raw) $(cat dumped)"
        fi
    done
    check "SIGTERM at $n random moments, $way $SETTINGS" test "$wrong" -eq 0
}

instrumented_at() {
    local milliseconds=$1 way=$2
    rm -rf raw && mkdir raw
    # shellcheck disable=SC2086
    env PMODEL_OUT="$PWD/raw" PMODEL_BLOCK=64 $SETTINGS \
        timeout 60 ./status -15 "$milliseconds" ./ends-i "$way" >other.out 2>other.err
}
