# `pmodel report --as callgrind`, `--folded`, `--extrap`: what other tools read adds up to what `pmodel report` says.
. "$TOP/tests/lib.sh"

cp "$TOP/bench/apps/heat/heat.c" .
check "the program builds" gcc -O2 -g $(pmodel flags) -o heat heat.c -lm
check "it is measured, and has models" bash -c "
    pmodel run -q -o heat.pmdb -m r12000 -P N=12:32:4 -- ./heat {N} 2 && pmodel fit heat.pmdb"

write() {
    pmodel report --as "$@" heat.pmdb -m r12000
}
pmodel report heat.pmdb -m r12000 -P N=80 --format json >report.json
cycles=$(jq '[.predictions[0].rows[].self.cycles // 0] | add | round' report.json)
misses=$(jq '[.predictions[0].rows[].self.misses.L2 // 0] | add | round' report.json)

# ---- callgrind
check "a callgrind profile is written" write callgrind -P N=80 -o heat.callgrind
check "callgrind_annotate reads it without a complaint" bash -c '
    callgrind_annotate --threshold=100 heat.callgrind >annotated.txt 2>annotated.err && [ ! -s annotated.err ]'
check "its total is the prediction's" bash -c "
    total=\$(awk '/PROGRAM TOTALS/ { gsub(\",\", \"\"); print \$1 }' annotated.txt)
    echo \"\$total, not $cycles\"; [ \"\$total\" = $cycles ]"
check "its functions add up to the total" bash -c "
    sum=\$(awk '/file:function/ { on = 1; next } /Auto-annotated/ { on = 0 }
        on && /^ *[0-9,]+ .*[^ ]:/ { gsub(\",\", \"\"); sum += \$1 } END { printf \"%.0f\", sum }' annotated.txt)
    echo \"\$sum, not $cycles\"; [ \"\$sum\" = $cycles ]"
check "a nest costs what its loops cost together" bash -c '
    awk "/^fn=/ { name = \$0 } /^[0-9]/ && !after_calls && name ~ /step/ { own += \$2 }
        /^calls=/ { after_calls = 1; next } after_calls { if (inner ~ /step\/2/) nest = \$2; after_calls = 0 }
        /^cfn=/ { inner = \$0 } END { print own, nest; exit own != nest }" heat.callgrind'

# ---- folded stacks
write folded -P N=80 >cycles.folded
write folded --of l2m -P N=80 >misses.folded
sum() {
    awk '{ sum += $NF } END { printf "%.0f", sum }' "$1"
}
check "folded stacks add up to the prediction's cycles" [ "$(sum cycles.folded)" = "$cycles" ]
check "and to its misses" [ "$(sum misses.folded)" = "$misses" ]
check "each says what its numbers are" bash -c '
    ! grep -v "^heat N=80 on r12000 \[predicted cycles\];" cycles.folded && ! grep -v " \[misses of L2\];" misses.folded'
check "loops are below what they are in" grep -q ';step/2 i;step/3 j;step/4 k' cycles.folded

# ---- Extra-P
write extrap >heat.jsonl
check "a line for each size, row and quantity" bash -c '
    jq -es "(map(.params.N) | unique) == [12, 16, 20, 24, 28, 32] and
        (map(select(.callpath | endswith(\"step/4 k\"))) | length == 6 * (5 + (map(.metric) | unique | map(select(endswith(\"misses\"))) | length) - 1)) and
        all(.value | type == \"number\")" heat.jsonl'
check "each call path has a quantity at a size once" bash -c '
    [ -z "$(jq -c "[.params, .callpath, .metric]" heat.jsonl | sort | uniq -d)" ]'

# ---- what is refused
expect_error "no machine" 2 'one machine' pmodel report --as callgrind heat.pmdb
expect_error "two machines" 2 'one machine' write folded -m itanium2
expect_error "a figure that there is not" 2 'there are Cycles, Instructions, L1m' write folded --of time
expect_error "a figure of another format" 2 'cannot read option "--of"' write callgrind --of Cycles
expect_error "a machine for histograms" 2 'cannot read option "-m"' pmodel show --as histograms heat.pmdb -m r12000
expect_error "a machine whose blocks were not measured" 2 'block' pmodel report --as callgrind heat.pmdb -m itanium2
check "nothing is left where the export failed" bash -c '
    ! pmodel report --as folded --of time heat.pmdb -m r12000 -o none 2>none.err && [ ! -e none ] && [ ! -e none.part ]'
