# README.md is true: each command in it prints what the page shows, its picture is what pmodel draws of that run, and its figures
# are those of the pages that it links to.  `make golden` renews all three.
. "$TOP/tests/lib.sh"

renew=()
[ -z "${GOLDEN_RENEW-}" ] || renew=(--renew)
ln -s "$TOP/bench" bench
python3 "$TOP/tests/documents/console.py" "${renew[@]}" "$TOP/README.md"
[ -s heat.pmdb ] || fail "README.md makes a store" "heat.pmdb is not there"

# The picture: the same words, and lines in the same places to the pixel or two that the last digits of models are worth.
pmodel report --as plot --what time -m sapphire-rapids -o heat.svg heat.pmdb step/4 2>errors
picture=$TOP/docs/pictures/heat.svg
[ -z "${GOLDEN_RENEW-}" ] || cp heat.svg "$picture"
check "the picture of README.md is what pmodel draws" python3 "$TOP/tests/documents/pictures.py" "$picture" heat.svg

(cd "$TOP" && python3 tests/documents/figures.py "${renew[@]}")
lines=$(wc -l <"$TOP/README.md")
if [ "$lines" -le 160 ]; then pass "README.md is a first page"; else fail "README.md is a first page" "it has $lines lines"; fi
