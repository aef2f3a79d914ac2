# `pmodel diff`: of a program before and after tiling, and after its source was renamed and moved, loops are
# matched, and changes of the rows add up to that of the whole; of two programs, what the compiler made.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

read -ra marks < <(pmodel flags)
mkdir plain moved renamed
cp "$TOP/bench/apps/heat/heat.c" plain/
# The sweep in tiles of eight rows.
awk '/^static void step/ { in_step = 1 }
    in_step && /for \(int i = 1/ { print "    for (int jj = 1; jj < n - 1; jj += 8)" }
    in_step && /for \(int j = 1/ { sub(/int j = 1; j < n - 1;/, "int j = jj; j < n - 1 \\&\\& j < jj + 8;"); in_step = 0 }
    { print }' plain/heat.c >tiled.c
check "the tiled source is another" sh -c '! cmp -s plain/heat.c tiled.c'
cp tiled.c renamed/sweep.c
sed '1i /* A line above. */' plain/heat.c >moved/heat.c
cp plain/heat.c renamed/warmth.c

# measured NAME SOURCE
measured() {
    gcc -O2 -g "${marks[@]}" -o "$1" "$2" -lm && pmodel run -q -m r12000 -o "$1.pmdb" -P N=12,16,20,24,28,32 -- "./$1" '{N}' >"$1.out" &&
        pmodel fit "$1.pmdb" >fit.out
}
check "heat is measured" measured before plain/heat.c
check "heat with tiles is measured" measured tiled renamed/sweep.c
check "heat from another folder, with a line above, is measured" measured elsewhere moved/heat.c
check "heat from a file of another name is measured" measured renamed_heat renamed/warmth.c

# diff_json NAME AFTER
diff_json() {
    pmodel diff -m r12000 -P N=100 --format json before.pmdb "$2.pmdb" >"$1.json"
}
adds_up='. as $d | ([.rows[].change_seconds] | add) as $sum |
    ($sum - .change_seconds | fabs) <= 1e-9 * .before.seconds and
    (.after.seconds - .before.seconds - .change_seconds | fabs) <= 1e-9 * .before.seconds'
causes_add_up='.before.seconds as $all | all(.rows[].change; ([.cause_seconds[]] | add) as $sum | ($sum - .seconds | fabs) <= 1e-9 * $all)'

# ---- tiling ------------------------------------------------------------------------------------------

check "before and after tiling" diff_json tiled tiled
check "changes of the rows add up to that of the whole" jq -e "$adds_up" tiled.json
check "changes by cause add up to that of the time" jq -e "$causes_add_up" tiled.json
check "both times are those of the reports" jq -e -n --slurpfile d tiled.json \
    --slurpfile a <(pmodel report -m r12000 -P N=100 --format json before.pmdb) \
    --slurpfile b <(pmodel report -m r12000 -P N=100 --format json tiled.pmdb) '
    $d[0].before.seconds == $a[0].predictions[0].seconds and $d[0].after.seconds == $b[0].predictions[0].seconds'
check "the innermost loop of the sweep is matched by its data" jq -e '.rows[] | select(.before and .after and
    (.label | startswith("step/5"))) | .paired_by == "data" and .before.iterations > 1000' tiled.json
check "a loop that tiling added is only after" jq -e 'any(.rows[]; .before == null and (.label | startswith("step/")))' tiled.json
check "loops of other routines are matched" jq -e 'all(.rows[] | select(.label | test("^(residual|initialise|mean)"));
    .before and .after and .paired_by)' tiled.json
check "the table ends with the whole" sh -c 'pmodel diff -m r12000 -P N=100 before.pmdb tiled.pmdb | grep -q "in all$"'
check "misses and counts" sh -c 'pmodel diff -m r12000 -P N=100 --fields misses,counts before.pmdb tiled.pmdb >text &&
    grep -q "L1.*L2.*TLB.*INSTRS.*LOOP" text'

# ---- the same program ---------------------------------------------------------------------------------

check "of another folder and name" diff_json elsewhere elsewhere
check "all loops are matched by key" jq -e 'all(.rows[]; .paired_by == "key")' elsewhere.json
check "and execute the same" jq -e 'all(.rows[].change; .instructions == 0 and .iterations == 0)' elsewhere.json
check "of a file of another name" diff_json renamed renamed_heat
check "all loops are matched without the name of the file" jq -e 'all(.rows[]; .before and .after) and
    ([.rows[] | select(.paired_by == "path")] | length) > 5' renamed.json
check "and execute the same, too" jq -e 'all(.rows[].change; .instructions == 0)' renamed.json
check "nothing changed from a store to itself" sh -c 'pmodel diff -m r12000 -P N=100 --format json before.pmdb before.pmdb |
    jq -e ".change_seconds == 0 and all(.rows[]; .change_seconds == 0)"'

# ---- programs without runs -----------------------------------------------------------------------------

check "heat with wide vectors builds" gcc -O3 -march=x86-64-v3 -g "${marks[@]}" -o wide plain/heat.c -lm
pmodel diff -m icelake-sp --format json before wide >code.json
check "vectors of 256 bits in place of 128" jq -e 'any(.rows[]; .before.vector_bits == 128 and .after.vector_bits == 256 and
    .before.cycles > 0 and .after.cycles > 0)' code.json
check "their bounds are those of schedule" jq -e -n --slurpfile d code.json \
    --slurpfile s <(pmodel loops --schedule -m icelake-sp --all --format json wide) '[$d[0].rows[] | select(.after.cycles) |
    {key, cycles: .after.cycles}] as $rows | ($rows | length) > 3 and all($rows[]; . as $r |
    any($s[0].loops[]; .key == $r.key and (.cycles - $r.cycles | fabs) < 1e-9))'
check "without a machine no cycles" sh -c 'pmodel diff before wide | grep -q "VECTOR BITS" && pmodel diff before wide | grep -q -e "-m"'
check "a program is as itself" sh -c 'pmodel diff -m icelake-sp before before | grep -q "loops are the same in both"'
check "the CSV has the rows of the JSON" sh -c 'test "$(pmodel diff -m icelake-sp --format csv before wide | tail -n +2 | wc -l)" = \
    "$(jq ".rows | length" code.json)"'

# ---- mistakes -------------------------------------------------------------------------------------------

expect_error "a store and a program" 2 'is a store, .* is none' pmodel diff -m r12000 before.pmdb ./wide
expect_error "one store" 2 'give two stores' pmodel diff -m r12000 before.pmdb
expect_error "no machine" 2 'give one machine' pmodel diff before.pmdb tiled.pmdb
expect_error "a field that there is not" 2 'takes time, misses' pmodel diff -m r12000 --fields speed before.pmdb tiled.pmdb
expect_error "a size for programs" 2 '-P is for stores' pmodel diff -P N=3 before wide
