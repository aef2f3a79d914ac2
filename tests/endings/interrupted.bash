# `pmodel run` ended from outside: `. "$TOP/tests/endings/interrupted.bash"` after tests/lib.sh. Builds ./sums.
# shellcheck shell=bash

build_once "ends sums" sums gcc -O1 -g -o sums "$TOP/tests/endings/sums.c" || exit
export TMPDIR=$TMP/temporary
mkdir -p "$TMPDIR"

is_whole() { [ "$(sqlite3 "$1" 'PRAGMA integrity_check')" = ok ]; }
n_runs() { # also of a store that is being made
    local n
    n=$(sqlite3 "$1" 'SELECT count(*) FROM run' 2>/dev/null)
    echo "${n:-0}"
}
is_alive() { pgrep -f "$1" >/dev/null; }
is_gone() { ! is_alive "$1"; }

# interrupted_at SIGNAL MILLISECONDS: of a `pmodel run` of 6 sizes, which takes about a second. Nothing may be
# left of it but whole runs; SIGKILL leaves its folder.
interrupted_at() {
    local signal=$1 milliseconds=$2 store=$TMP/interrupted.pmdb status=0 before
    before=$(n_runs "$store")
    pmodel run -q -o "$store" --block 64 -P N=1:6 -- "$TMP/sums" '{N}' slowly >/dev/null 2>errors &
    local process=$!
    sleep "$(printf '0.%03d' "$milliseconds")"
    kill -"$signal" $process 2>/dev/null
    wait $process 2>/dev/null || status=$?
    if [ $status -ne 0 ] && [ $status -ne $((128 + $(kill -l "$signal"))) ]; then
        echo "$signal after $milliseconds ms: status $status, $(cat errors)"
        return 1
    fi
    if [ -e "$store" ] && ! is_whole "$store"; then
        echo "$signal after $milliseconds ms: the store is damaged"
        return 1
    fi
    if [ "$(n_runs "$store")" -lt "$before" ]; then
        echo "$signal after $milliseconds ms: runs are gone"
        return 1
    fi
    if [ "$signal" != KILL ] && [ -n "$(ls "$TMPDIR")" ]; then
        echo "$signal after $milliseconds ms: $(ls "$TMPDIR") is left"
        return 1
    fi
    wait_for is_gone "$TMP/sums" && return
    echo "$signal after $milliseconds ms: the program still runs"
    return 1
}

# random_interruptions N: N times, then the last call completes the store.
random_interruptions() {
    local n=$1 wrong=0 signals=(TERM INT HUP KILL) i
    rm -f interrupted.pmdb
    for ((i = 0; i < n; i++)); do
        [ "$(n_runs interrupted.pmdb)" -lt 6 ] || rm -f interrupted.pmdb
        interrupted_at "${signals[i % 4]}" $((RANDOM % 900)) || wrong=$((wrong + 1))
        [ $((i % 4)) -ne 3 ] || abandon
    done
    check "$n interruptions at random moments leave whole runs and nothing else" test $wrong -eq 0
    check "the next call goes on" \
        pmodel run -q -o interrupted.pmdb --block 64 -P N=1:6 -- "$TMP/sums" '{N}' slowly
    check "and completes the store" test "$(n_runs interrupted.pmdb)" -eq 6
    check "what SIGKILL left is gone" test -z "$(ls "$TMPDIR")"
}

# What SIGKILL left is old enough to be removed by the next call.
abandon() {
    find "$TMPDIR" -mindepth 1 -maxdepth 2 '(' -name lock -o -name 'pmodel-*' ')' -exec touch -d '2 minutes ago' {} +
}
