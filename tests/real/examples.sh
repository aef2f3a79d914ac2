# The examples of the pages work as they stand: those about heat, its stores and machine files are run, one after the other.
. "$TOP/tests/lib.sh"
build_once heat-for-examples heat gcc -O3 -g "$(pmodel flags)" -o heat "$TOP/bench/apps/heat/heat.c" -lm
cp "$TOP/bench/apps/heat/heat.c" .
cp heat heat.O2
cp heat heat.O3
cp "$TOP/machines/measured/amd-25-17.conf" here.conf
mkdir node1 node2
pmodel machines r12000 >mine.conf
pmodel run -q --time --carry -o heat.pmdb -m r12000,itanium2 -P N=16,24,32,40,48,64 -- ./heat '{N}' >/dev/null
pmodel fit heat.pmdb >/dev/null
cp heat.pmdb node1/heat.pmdb
cp heat.pmdb node2/heat.pmdb
cp heat.pmdb before.pmdb
cp heat.pmdb after.pmdb
python3 "$TOP/tests/documents/examples.py" "$TOP"/docs/pmodel-*.md | tee shown
[ "$(grep -c '^ok' shown)" -ge 50 ] || fail "the pages have examples" "fewer than 50 could be run"
