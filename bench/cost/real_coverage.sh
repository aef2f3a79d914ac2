#!/usr/bin/env bash
# How much of real programs is counted: as `make check-real` compares it (tests/real/behaviour.bash), a
# line of JSON for each program of tests/real/programs.bash; null where it cannot be measured.
#
#     real_coverage.sh FOLDER     scratch files go to the folder, which is made anew
# BUILD and PATH as for the other scripts of this folder.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
TMP=$1
rm -rf "$TMP"
mkdir -p "$TMP" && cd "$TMP" || exit 1
exec 3>&1 >&2
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/behaviour.bash"

for name in $real_programs; do
    echo "$name"
    covered=null own=null all=null
    measure_coverage "$name" short
    printf '{"program": "%s", "covered": %s, "own": %s, "all": %s}\n' "$name" "$covered" "$own" "$all" >&3
    rm -rf "$name.short"
done
