# Unit tests with random numbers and of many shapes, as often as takes minutes (tests/unit/rounds.h).
# time limit: 1800 s
. "$TOP/tests/lib.sh"

cd "$TOP" || exit 1
for source in $(grep -l 'takes_minutes()' tests/unit/*.c); do
    name=$(basename "$source" .c)
    check "$name" env PMODEL_LONG_TESTS=1 "$BUILD/tests/unit/$name"
done
