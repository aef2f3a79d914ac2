# Initiation intervals of the modulo scheduler beside the least ones, which an integer program finds (tests/truth/modulo_programs.c),
# on small loops of the example applications, for three machines.  `make validate` does the same for 300 loops.
# shellcheck shell=bash
. "$TOP/tests/lib.sh"
# shellcheck source=tests/truth/tools.sh
. "$TOP/tests/truth/tools.sh"
# shellcheck disable=SC2034 # truth_tool reads it
TRUTH_LIBRARIES="machines sched fit" TRUTH_LINK=-lglpk

check "the comparison builds" truth_tool modulo_programs
machine() { echo "$TOP/machines/$1.conf"; }
programs=("$BUILD"/apps/cg "$BUILD"/apps/irregular "$BUILD"/apps/matmul)
for name in icelake-sp zen4 itanium2; do
    check "$name: loops are compared" sh -c './modulo_programs "$@" >'"$name" sh "$(machine "$name")" 20 2 0 "${programs[@]}"
    check "$name: no interval is below the least" sh -c '[ -s '"$name"' ] && ! grep -q "below$" '"$name"
    check "$name: most are the least" awk -F'\t' '{ n[$6]++ } END { exit n["equal"] < 0.9 * (n["equal"] + n["above"]) }' "$name"
done
check "an interval that is too small is seen" sh -c './modulo_programs "$@" >small && [ -s small ] && ! grep -v "below$" small' \
    sh "$(machine itanium2)" 5 2 -1 "${programs[@]}"
check "one that is too large is seen" sh -c './modulo_programs "$@" >large && [ -s large ] && ! grep -v "above$" large' \
    sh "$(machine itanium2)" 5 2 1 "${programs[@]}"
