# Unit tests with random numbers and of many shapes, as often as takes minutes (tests/unit/rounds.h), and scripts that repeat
# what goes wrong seldom or have more of what they try (`rounds` in tests/lib.sh).
# time limit: 1800 s
. "$TOP/tests/lib.sh"

cd "$TOP" || exit 1
for source in $(grep -l 'takes_minutes()' tests/unit/*.c); do
    name=$(basename "$source" .c)
    check "$name" env PMODEL_LONG_TESTS=1 "$BUILD/tests/unit/$name"
done

# Each in a folder of its own, because their files have the same names.
for script in second_core rewrite behaviour; do
    mkdir "$TMP/$script"
    (cd "$TMP/$script" && TMP=$TMP/$script PMODEL_LONG_TESTS=1 bash "$TOP/tests/e2e/$script.sh" | sed -E "s/^(ok|FAIL) - /&$script: /")
done
