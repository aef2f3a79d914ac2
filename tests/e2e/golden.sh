# What every command prints, whole: standard output, standard error and exit status of each invocation
# are those kept in tests/golden. A change there is to be understood, not only copied: `make golden`
# renews them, `git diff tests/golden` shows what has changed.
# time limit: 600 s
. "$TOP/tests/lib.sh"

kept=$TOP/tests/golden
mkdir new outputs
: >names

# An environment that is the same everywhere.
clean() {
    env -i PATH="$PATH" HOME="$TMP" TMPDIR="$TMP" LC_ALL=C.UTF-8 TERM=dumb OMP_WAIT_POLICY=passive "$@" </dev/null
}

# The arguments as they would be typed.
typed() {
    local word line=
    for word; do
        case $word in
        *[!A-Za-z0-9_./=,:+%@-]* | '') word="'$word'" ;;
        esac
        line="$line $word"
    done
    printf '%s\n' "\$$line"
}

# golden NAME COMMAND...: the command's output is what tests/golden/NAME has.
golden() {
    local name=$1 status=0
    shift
    echo "$name" >>names
    clean "$@" >outputs/out 2>outputs/err || status=$?
    {
        typed "$@"
        cat outputs/out
        [ -s outputs/err ] && echo "-- standard error" && cat outputs/err
        echo "-- status $status"
    } | awk -v name="$name" -v scratch="$TMP" -v build="$BUILD" -f "$kept/filter.awk" >"new/$name"
    if [ -n "${GOLDEN_RENEW-}" ]; then
        cmp -s "new/$name" "$kept/$name" || cp "new/$name" "$kept/$name"
        pass "$name"
    elif diff -u --label "kept/$name" --label "new/$name" "$kept/$name" "new/$name"; then
        pass "$name"
    else
        fail "$name" "it differs from tests/golden/$name, see above"
    fi
}

# formats NAME pmodel COMMAND ARGUMENT...: as a table, as JSON and as CSV.
formats() {
    local name=$1 command=$3
    shift 3
    golden "$name.txt" pmodel "$command" "$@"
    golden "$name.json" pmodel "$command" --format json "$@"
    golden "$name.csv" pmodel "$command" --format csv "$@"
}

# ---- programs and stores -------------------------------------------------------------------------

# Everything that could tell one machine or folder from another is kept out of the programs: the
# instructions are those of x86-64-v2, code and data stand where they were linked to, and debug
# information has neither folders nor options. nest.c says how the stack is kept out of what is measured.
plugin=$(pmodel flags)
portable="-g -march=x86-64-v2 -no-pie -fcf-protection=none -gno-record-gcc-switches -ffile-prefix-map=$TMP=."
cp "$kept"/*.c .
build() { # PROGRAM SOURCE FLAGS...
    local program=$1 source=$2
    shift 2
    check "$program is built" gcc $portable "$@" -o "$program" "$source" -Wl,--build-id=sha1
}
build nest nest.c -O2 "$plugin"
build nest3 nest.c -O3 "$plugin"
build bare nest.c -O2 -g0
build two two.c -O2 "$plugin"
build turns turns.c -O2 -pthread "$plugin"
build static two.c -O2 -static
cp nest stripped && strip stripped

measure() { # STORE ARGUMENTS OF RUN...
    local store=$1
    shift
    check "$store is measured" clean pmodel run -q -o "$store.pmdb" "$@"
}
measure nest -m itanium2,r12000 -P N=16:56:8 -- ./nest '{N}'
check "nest has models" clean pmodel fit nest.pmdb
cp nest.pmdb renewed.pmdb
measure few -P N=16,24 -- ./nest '{N}'
measure coarse --block 64 -P N=16:64:8 -- ./nest '{N}'
check "coarse has models" clean pmodel fit coarse.pmdb
measure coarse32 --block 32,128,16384,32768 -P N=16:64:16 -- ./nest '{N}'
check "coarse32 has models" clean pmodel fit coarse32.pmdb
measure two --block 64,4096 -P A=8,12,16,20,24 -P B=8,16,24,32,40 -- ./two '{A}' '{B}'
check "two has models" clean pmodel fit two.pmdb
mpi=(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
check "chain is built" mpicc.openmpi $portable -O1 "$plugin" -o chain chain.c -Wl,--build-id=sha1
check "chain is measured" clean "${mpi[@]}" pmodel run -q -o chain.pmdb --exe ./chain --no-memory \
    -P N=10,20,30,40 -P p=2,3,4,5 -- mpirun.openmpi --oversubscribe -np '{p}' ./chain '{N}'
check "chain has models" clean pmodel fit chain.pmdb
check "an interval of chain has models" clean pmodel fit --interval MPI_Send chain.pmdb

# ---- the command itself --------------------------------------------------------------------------

golden version.txt pmodel --version
golden help.txt pmodel --help
# "report --as loop" is of files that are called report.loop.
pmodel help --page | cut -d ' ' -f 2- >commands
while read -r command; do
    file=${command// --as /.}
    # shellcheck disable=SC2086
    golden "help.${file// --/.}.txt" pmodel $command --help
done <commands
# Names of version 0.1.
golden old.explain.txt pmodel explain nothing.pmdb
golden old.export.txt pmodel export -s nothing.pmdb --histograms
golden old.fit.txt pmodel fit --drop-divergent nothing.pmdb
golden flags.txt pmodel flags
golden help.word.txt pmodel help L1/it
golden help.option.txt pmodel help --machine-readable
golden help.option.format.txt pmodel help format
golden help.list.txt pmodel help --list
golden help.list.fit.txt pmodel help --list fit

# ---- loops -----------------------------------------------------------------------------------------

formats loops pmodel loops ./nest
formats loops.groups pmodel loops --groups ./nest
formats loops.check pmodel loops --check ./nest
formats loops.summary pmodel loops --summary ./nest ./nest3 ./bare ./turns ./static
golden loops.O3.txt pmodel loops --groups ./nest3
golden loops.check.O3.txt pmodel loops --check ./nest3
golden loops.check.stripped.txt pmodel loops --check ./nest ./stripped
golden loops.bare.txt pmodel loops --groups ./bare
golden loops.stripped.txt pmodel loops ./stripped
golden loops.plain.txt pmodel loops --plain --groups ./nest
golden loops.plain.csv pmodel loops --plain --format csv ./nest
golden loops.summary.plain.txt pmodel loops --summary --plain ./nest ./nest3
golden loops.routine.txt pmodel loops --groups --routine 'copy,tri*' ./nest
golden loops.routine.json pmodel loops --groups --format json --routine 'copy,tri*' ./nest
golden loops.interval.txt pmodel loops --interval stencil --interval gather ./nest
cat >own.classes <<'C'
isa x86-64
shuffle + fp_add scalar:  addsd
C
golden loops.classes.txt pmodel loops --mix --classes own.classes --routine stencil ./nest
for level in block loop routine module program; do
    golden loops.mix.$level.txt pmodel loops --mix --level $level ./nest
done
golden loops.mix.loop.json pmodel loops --mix --format json --routine stencil,copy ./nest
golden loops.mix.loop.csv pmodel loops --mix --format csv ./nest
golden loops.mix.block.csv pmodel loops --mix --level block --format csv --routine choose ./nest
golden loops.mix.plain.O3.txt pmodel loops --mix --plain ./nest3
for pass in cfg loops live formulas deps groups counters; do
    golden loops.dump.$pass.txt pmodel loops --dump $pass --routine stencil,choose,copy ./nest
    golden loops.dump.$pass.plain.txt pmodel loops --dump $pass --plain --routine triangle,uneven ./nest3
done
for pass in cfg loops live deps counters; do
    golden loops.dump.$pass.dot pmodel loops --dump $pass --dump-format dot --routine triangle ./nest
done
# Of a drawing only what is written in it and how much is drawn: where, Graphviz and its fonts decide.
drawing='sed -n -e "s/<g id=\"\([a-z]*\)[0-9]*\" class=\"\([a-z]*\)\">.*/\1 \2/p" \
    -e "s/.*<text[^>]*>\(.*\)<\/text>.*/text \1/p" | sort | uniq -c'
golden loops.svg.txt sh -c "pmodel loops --svg stencil ./nest | $drawing"
golden loops.svg.instructions.txt sh -c "pmodel loops --svg triangle --instructions ./nest | $drawing"
golden loops.svg.large.txt sh -c "pmodel loops --svg choose --max-blocks 3 ./nest | $drawing"

# ---- plan ------------------------------------------------------------------------------------------

formats plan pmodel plan -P N=16:32:8 --runs 3 --to N=128 -- ./nest '{N}'
golden plan.two.txt pmodel plan -P A=8,16,24 -P B=8:24:8 --where 'A<=B' --no-memory -- ./two '{A}' '{B}'

# ---- run -------------------------------------------------------------------------------------------

printf 'A B # points\n8 16\n12, 24\n' >points
golden run.dry_run.txt pmodel run --dry-run -P N=16:40:8 -- ./nest '{N}'
golden run.dry_run.two.txt pmodel run --dry-run -P A=4,8 -P B=2:6:2 --where 'A*B<40' -- ./two '{A}' '{B}'
golden run.dry_run.points.txt pmodel run --dry-run -P A,B=16:1,16:5,32:10 -P 'C=floor((A-1)/3)' -- ./two '{A}' '{B}' '{C}'
golden run.dry_run.design.txt pmodel run --dry-run --design points -P 'C=2*A' -- ./two '{A}' '{B}' '{C}'
golden run.first.txt pmodel run -o run.pmdb -P N=16,24 -- ./nest '{N}'
golden run.repeats_nothing.txt pmodel run -o run.pmdb -P N=16,24 -- ./nest '{N}'
golden run.one_more.txt pmodel run -o run.pmdb -P N=16,24,32 -- ./nest '{N}'
golden run.again.txt pmodel run --again -o run.pmdb -P N=24 -- ./nest '{N}'
golden run.quiet.txt pmodel run -q -o run.pmdb -P N=40 -- ./nest '{N}'
golden run.two.txt pmodel run -o run2.pmdb -P A=8,16 -P B=8,16 -- ./two '{A}' '{B}'
golden run.design.txt pmodel run -o design.pmdb --design points -- ./two '{A}' '{B}'
golden run.where.txt pmodel run -o where.pmdb -P A=8:32:8 -P 'B=A+4' --where 'A%16==0' -- ./two '{A}' '{B}'
golden run.machine.txt pmodel run -o machine.pmdb -m r12000 -P N=16 -- ./nest '{N}'
golden run.machine.other.txt pmodel run -o machine.pmdb -m r12000,itanium2 -P N=16 -- ./nest '{N}'
golden run.machine.there.txt pmodel run -o machine.pmdb -P N=16 -- ./nest '{N}'
golden run.max_blocks.txt pmodel run -o bounded.pmdb --max-blocks 64 --block 64 -P N=56 -- ./nest '{N}'
golden run.bin_width.txt pmodel run -o bins.pmdb --bin-width 0.2 --block 64 -P N=56 -- ./nest '{N}'
golden run.bytes.txt pmodel run -o bytes.pmdb --bytes --block 64 -P N=24 -- ./nest '{N}'
golden run.write_backs.txt pmodel run -o writes.pmdb --write-backs --block 64 -P N=24 -- ./nest '{N}'
golden query.write_backs.txt pmodel query writes.pmdb -P N=24 --cache 1K,32K
golden run.no_behaviour.txt pmodel run -o distances.pmdb --no-behaviour -P N=24 -- ./nest '{N}'
pmodel run -q -o branches.pmdb -P N=24 -- ./nest '{N}'
golden show.branches.txt pmodel show --as branches branches.pmdb
golden show.branches.json pmodel show --as branches --format json branches.pmdb
golden show.branches.csv pmodel show --as branches --format csv branches.pmdb
golden run.carry.txt pmodel run -o carry.pmdb -m r12000 --carry -P N=40 -- ./nest '{N}'
golden run.no_memory.txt pmodel run -o counts.pmdb --no-memory -P N=16:56:8 -- ./nest '{N}'
golden run.bare.txt pmodel run -o bare.pmdb -m r12000 -P N=24 -- ./bare '{N}'
golden run.threads.txt pmodel run -o turns.pmdb --block 64 -P N=64,128 -- ./turns '{N}'
echo sweep >sweep
golden run.shared.txt pmodel run -o shared.pmdb --shared --include sweep --block 64 -P N=64,128 -- ./turns '{N}'
# Which blocks are watched depends on their addresses, so nothing on the stack may be among them.
golden run.sample.txt pmodel run -o sample.pmdb --sample 1/4 --include sweep --block 64 -P N=4000 -- ./turns '{N}'
printf 'stencil\ntri*\n' >some
printf 'stencil\n!copy\n' >others
golden run.include.txt pmodel run -o include.pmdb -m r12000 --include some -P N=24 -- ./nest '{N}'
golden run.exclude.txt pmodel run -o exclude.pmdb -m r12000 --exclude others -P N=24 -- ./nest '{N}'
golden run.part.txt pmodel run -o part.pmdb -m r12000 --start-at stencil --stop-after stencil -P N=24 -- ./nest '{N}'
golden run.weights.txt pmodel run -o weights.pmdb --weights nest.pmdb -P N=24 -- ./nest '{N}'
golden run.classes.txt pmodel run -o classes.pmdb -m r12000 --classes own.classes -P N=24 -- ./nest '{N}'
golden run.build.txt pmodel run -o fixed.pmdb -m r12000 -P N=12,20,24,32,40,48 \
    --build "gcc $portable -O2 $plugin -D N={N} -o fixed fixed.c" -- ./fixed
printf '%s\n' 'N={N}' >input.template
golden run.input.txt pmodel run -o input.pmdb --input input.template:input --env SIZE='{N}' --scratch runs \
    -P N=16 -- "$TMP/nest" '{N}'
golden run.input_file.txt cat runs/N=16/input
printf '#!/bin/sh\nexec ./nest $1\n' >script && chmod +x script
golden run.exe.txt pmodel run -o exe.pmdb --exe ./nest -P N=16 -- ./script '{N}'
check "the example of a handler is built" gcc -shared -fPIC -O2 -I "$BUILD/include" -o call_tree.so \
    "$BUILD/share/pmodel/examples/call_tree.c"
golden run.call_tree.txt pmodel run --handler ./call_tree.so -- ./nest 16
golden run.interval.txt pmodel run --handler ./call_tree.so --events routines --interval stencil -- ./nest 16

# ---- instrument --------------------------------------------------------------------------------------

golden instrument.txt pmodel run --instrument -o copy ./nest
golden instrument.copy_runs.txt ./copy 24
golden instrument.events.txt pmodel run --instrument -o copy2 --events all --interval stencil --exclude others ./nest
golden instrument.no_memory.txt pmodel run --instrument -q -o copy3 --no-memory ./nest
golden instrument.handler.txt env PMODEL_HANDLER=./call_tree.so ./copy2 16

# ---- fit ---------------------------------------------------------------------------------------------

formats fit pmodel fit renewed.pmdb
golden fit.models.txt pmodel fit --models renewed.pmdb
golden fit.models.csv pmodel fit --models --format csv coarse.pmdb
golden fit.models.two.txt pmodel fit --models two.pmdb
golden fit.models.two.json pmodel fit --models --format json two.pmdb
golden fit.flagged.txt pmodel fit --flagged renewed.pmdb
golden fit.flagged.json pmodel fit --flagged --top 5 --format json renewed.pmdb
golden fit.flagged.csv pmodel fit --flagged --format csv renewed.pmdb
golden fit.flagged.top.txt pmodel fit --flagged --top 3 --threads 1 renewed.pmdb
golden fit.drop_outliers.txt pmodel fit --drop-outliers renewed.pmdb
golden fit.search.txt pmodel fit --search --models run.pmdb
golden fit.basis.txt pmodel fit --models --basis '1, N, N^2' --basis 'triangle/2=1, N, N*log2(N)' \
    --basis 'uneven=1, (N%3)*N^2' coarse.pmdb
golden fit.basis.dependent.txt pmodel fit --basis '1, N, ceil(N/8)' renewed.pmdb
check "coarse has its models again" clean pmodel fit coarse.pmdb
golden fit.counts_only.txt pmodel fit counts.pmdb
golden fit.builds.txt pmodel fit --models fixed.pmdb
golden fit.builds.flagged.txt pmodel fit --flagged fixed.pmdb

# ---- model -------------------------------------------------------------------------------------------

formats model pmodel report --as formulas nest.pmdb
for level in program module loop; do
    golden model.$level.txt pmodel report --as formulas --level $level nest.pmdb
done
golden model.loop.csv pmodel report --as formulas --level loop --format csv nest.pmdb
golden model.classes.txt pmodel report --as formulas --classes 'fp_*,load_int,accesses,operations' nest.pmdb
golden model.elements.txt pmodel report --as formulas --classes 'fp_*' --elements --level program nest.pmdb
golden model.all.csv pmodel report --as formulas --classes all --level program --format csv nest.pmdb
golden model.edges.txt pmodel report --as formulas --edges --routine triangle,choose nest.pmdb
golden model.edges.json pmodel report --as formulas --edges --routine triangle --format json nest.pmdb
golden model.edges.csv pmodel report --as formulas --edges --format csv nest.pmdb
golden model.sorted.txt pmodel report --as formulas --level loop --sort count --threshold 1% nest.pmdb
golden model.threshold.txt pmodel report --as formulas --level loop --threshold 3 nest.pmdb
formats model.communication pmodel report --as formulas --communication -P N=30,p=16 chain.pmdb
golden model.role.txt pmodel report --as formulas --role inside chain.pmdb
golden model.kind.txt pmodel report --as formulas --interval MPI_Send chain.pmdb
golden model.interval.txt pmodel report --as formulas --interval stencil --level program nest.pmdb
golden model.size.txt pmodel report --as formulas -P N=200 --level loop nest.pmdb
golden model.size.json pmodel report --as formulas -P N=200 --routine uneven,copy --format json nest.pmdb
golden model.include.txt pmodel report --as formulas --include some nest.pmdb
golden model.exclude.txt pmodel report --as formulas --exclude some nest.pmdb
golden model.basis.txt pmodel report --as formulas --basis '1, N^2, (N%3)*N^2' nest.pmdb
golden model.search.txt pmodel report --as formulas --search --threads 1 --level program nest.pmdb
golden model.two.txt pmodel report --as formulas --level loop two.pmdb
golden model.two.size.txt pmodel report --as formulas -P A=100,B=200 two.pmdb
golden model.builds.txt pmodel report --as formulas --level loop fixed.pmdb

# ---- report ------------------------------------------------------------------------------------------

pmodel machines icelake-sp | sed -e 1d -e '/^tlb/d' -e '/^page/d' -e '/^title/s/".*"/"One of our own"/' >own.conf
for machine in r12000 itanium2 icelake-sp; do
    golden report.$machine.txt pmodel report -m $machine nest.pmdb
    golden report.$machine.predicted.txt pmodel report -m $machine -P N=96 nest.pmdb
    golden report.$machine.predicted.csv pmodel report -m $machine -P N=96 --format csv nest.pmdb
done
golden report.r12000.csv pmodel report -m r12000 --format csv nest.pmdb
golden report.own.json pmodel report -m ./own.conf --format json coarse.pmdb
golden report.icelake-sp.predicted.json pmodel report -m icelake-sp -P A=100,B=200 --format json two.pmdb
golden report.all.txt pmodel report -P N=24 nest.pmdb
golden report.several.txt pmodel report -m r12000,itanium2 -m icelake-sp -P N=200 --top 2 nest.pmdb
golden report.set.txt pmodel report -m r12000,itanium2 --set r12000:L2.size=64KiB --set clock_mhz=1000 -P N=200 --top 2 nest.pmdb
golden report.set.line.txt pmodel report -m r12000 --set L1.line=16 --top 2 nest.pmdb
golden query.set.txt pmodel query -m r12000 --set L2.size=64KiB -P N=200 nest.pmdb
golden report.top.txt pmodel report -m r12000 -P N=96 --top 2 nest.pmdb
golden report.min_percent.txt pmodel report -m r12000 -P N=96 --min-percent 10 nest.pmdb
golden report.pessimistic.txt pmodel report -m itanium2 -P N=96 --deps pessimistic nest.pmdb
golden report.notes.txt pmodel report -m r12000 --notes nest.pmdb
golden report.tree.txt pmodel report --as tree -m r12000 -P N=96 nest.pmdb
golden report.tree.filter.txt pmodel report --as tree -m r12000 --filter 'stencil*' -P N=96 nest.pmdb
golden report.fields.txt pmodel report -m r12000 --fields 'time,at least,at most,low,high,L1,misses/ki,cyc/it,loop' --sort L2/ki nest.pmdb
golden report.fields.csv pmodel report -m r12000 --fields key,label,L1_misses,total_seconds --format csv nest.pmdb
golden report.filter.json pmodel report -m r12000 --filter 'nest.c:3*' --fields label,time,misses/it --format json nest.pmdb
golden report.filter.txt pmodel report -m r12000 --filter 'u*' --fields +instr,misses/ki nest.pmdb
golden report.sizes.txt pmodel report -m r12000,itanium2 -P N=56,96,200 --top 4 nest.pmdb
golden report.sizes.csv pmodel report -m r12000 -P N=56,96 --fields parameters,label,time,bound --filter stencil --format csv nest.pmdb
golden report.sizes.two.txt pmodel report -m icelake-sp -P A=24,100,B=200 --fields +L1/ki --min-percent 5 two.pmdb
golden report.fits.txt pmodel report -m r12000 -P N=96 --fits nest.pmdb
golden report.fits.two.txt pmodel report -m icelake-sp -P A=100,B=200 --fits two.pmdb
golden report.left_out.txt pmodel report -P N=24 run.pmdb
golden report.interpolate.txt pmodel report -m r12000 -P N=24 --interpolate run.pmdb
golden report.interpolate.csv pmodel report -m r12000 -P N=24 --interpolate --format csv run.pmdb
golden report.interpolate.predicted.txt pmodel report -m r12000 -P N=96 --interpolate coarse.pmdb
golden report.carried.txt pmodel report --as carried -m r12000 carry.pmdb
golden report.carried.json pmodel report --as carried -m r12000 --top 3 --format json carry.pmdb
golden report.carried.csv pmodel report --as carried -m r12000,icelake-sp --format csv carry.pmdb
formats report.ranks pmodel report --as ranks -m r12000 -P N=30,p=4 chain.pmdb
golden report.ranks.predicted.txt pmodel report --as ranks -m r12000 -P N=30,p=16 chain.pmdb
formats report.intervals pmodel report --as intervals -m r12000 -P N=30,p=4 chain.pmdb
golden report.threads.txt pmodel report --as threads -m ./own.conf turns.pmdb
golden report.shared.txt pmodel report --as threads -m ./own.conf shared.pmdb
golden report.sample.txt pmodel report -m ./own.conf sample.pmdb
golden report.bounded.txt pmodel report -m ./own.conf bounded.pmdb
golden report.bytes.txt pmodel report -m ./own.conf bytes.pmdb
golden report.counts_only.txt pmodel report -m r12000 counts.pmdb
golden report.bare.txt pmodel report -m r12000 bare.pmdb
golden report.include.txt pmodel report -m r12000 include.pmdb
golden report.exclude.txt pmodel report -m r12000 exclude.pmdb
golden report.part.txt pmodel report -m r12000 part.pmdb
golden report.classes.txt pmodel report -m r12000 classes.pmdb
golden report.builds.txt pmodel report -m r12000 -P N=40 fixed.pmdb
golden report.builds.predicted.txt pmodel report -m r12000 -P N=80 fixed.pmdb

# ---- explain -----------------------------------------------------------------------------------------

formats explain pmodel report --as loop -m r12000 -P N=96 nest.pmdb stencil
golden explain.hottest.txt pmodel report --as loop -m itanium2 nest.pmdb
golden explain.carried.txt pmodel report --as loop -m r12000 --source --source-dir . carry.pmdb stencil
golden explain.carried.json pmodel report --as loop -m r12000 --format json carry.pmdb gather
golden explain.bytes.txt pmodel report --as loop -m ./own.conf bytes.pmdb
golden explain.counts_only.txt pmodel report --as loop -m r12000 counts.pmdb
golden explain.two.txt pmodel report --as loop -m icelake-sp -P A=100,B=200 two.pmdb
golden explain.asm.txt pmodel report --as loop -m icelake-sp --asm --interpolate nest.pmdb triangle

# ---- annotate ----------------------------------------------------------------------------------------

formats annotate pmodel report --as source -m r12000 nest.pmdb nest.c
golden annotate.predicted.txt pmodel report --as source -m r12000 -P N=96 --min-percent 5 nest.pmdb nest.c

# ---- diff --------------------------------------------------------------------------------------------

measure nest3 -m r12000 -P N=24,40 -- ./nest3 '{N}'
formats diff pmodel diff -m r12000 -P N=40 nest.pmdb nest3.pmdb
golden diff.fields.txt pmodel diff -m r12000 --fields misses,counts,causes --top 3 nest.pmdb nest3.pmdb
formats diff.code pmodel diff -m icelake-sp ./nest ./nest3
golden diff.code.bare.txt pmodel diff ./nest ./bare

# ---- compare -----------------------------------------------------------------------------------------

formats compare pmodel compare -m r12000,itanium2 nest.pmdb@N=96:2.5 nest.pmdb
golden compare.geometric.txt pmodel compare --mean geometric -m itanium2,r12000 -P N=200 nest.pmdb
golden compare.lower.txt pmodel compare -m itanium2,r12000 counts.pmdb nest.pmdb

# ---- query -------------------------------------------------------------------------------------------

formats query.misses pmodel query -P N=96 --cache 4K,16K,64K nest.pmdb
formats query.cache pmodel query -P N=96 --hit-ratio 0.9,0.99 nest.pmdb
formats query.size pmodel query --cache 8K --hit-ratio 0.9 coarse.pmdb
formats query.fits pmodel query --fits -m r12000 coarse32.pmdb
formats query.interpolate pmodel query -P N=24,96 --cache 4K,16K --block 256 --interpolate coarse.pmdb
golden query.interpolate.cache.txt pmodel query -P N=96 --hit-ratio 0.9 --block 32 --interpolate coarse.pmdb
golden query.interpolate.size.txt pmodel query --hit-ratio 0.9 --cache 8K --block 128 --interpolate coarse.pmdb
golden query.misses.sizes.txt pmodel query -P N=24:96:24 --cache '4K:32K' nest.pmdb
golden query.misses.machine.txt pmodel query -P N=96 -m r12000 --level loop nest.pmdb
golden query.misses.routine.txt pmodel query -P N=96 -m icelake-sp --level routine --min-percent 5 nest.pmdb
golden query.misses.group.csv pmodel query -P N=96 --cache 32K --level group --format csv nest.pmdb
golden query.misses.measured.txt pmodel query -P N=48 --cache 64blocks --block 4096,64 --top 3 --level loop nest.pmdb
golden query.misses.policies.txt pmodel query -P N=96 --cache 4K/4,4K/4/plru,4K/4/fifo,4K/4/random,4K/random,64K/4/physical nest.pmdb
golden query.misses.two.txt pmodel query -P A=100 -P B=100,200 --cache 4K two.pmdb
golden query.misses.formula.txt pmodel query -P A=40,80 -P 'B=2*A' --cache 4K two.pmdb
golden query.cache.scope.txt pmodel query -P N=96 --hit-ratio 95% --scope stencil/2 --scope 'tri*' nest.pmdb
golden query.cache.no_cold.txt pmodel query -P N=96 --hit-ratio 0.99 --no-cold --level routine nest.pmdb
golden query.cache.none.txt pmodel query -P N=96 --hit-ratio 0.9999 nest.pmdb
golden query.size.range.txt pmodel query --cache 16K --hit-ratio 99% --no-cold --range N=16:400:16 nest.pmdb
golden query.size.list.txt pmodel query -m r12000 --hit-ratio 0.95 --range N=32,64,128,256 nest.pmdb
golden query.size.two.txt pmodel query --cache 2K --hit-ratio 0.9 -P A=20 two.pmdb
golden query.fits.caches.txt pmodel query --fits --cache 4K,32K --scope stencil --range N=16:1000 nest.pmdb
golden query.fits.two.txt pmodel query --fits --cache 1K -P B=40 two.pmdb

# ---- plot --------------------------------------------------------------------------------------------

# What is drawn and written, not where.
drawn='sed "s/<text/\n<text/g" | sed -n -e "s/^<text[^>]*>\([^<0-9][^<]*\)<.*/text \1/p;t" \
    -e "s/^<\([a-z]*\) class=.\([a-z0-9 ]*\).*/\1 \2/p" -e "s/<\(title\|desc\)>\(.*\)<.*/\1 \2/p" | sort | uniq -c'
for what in time misses histogram surface roofline; do
    golden plot.$what.txt sh -c "pmodel report --as plot --what $what -m r12000 -P N=96 --sizes 6 nest.pmdb stencil/2 | $drawn"
done
golden plot.program.txt sh -c "pmodel report --as plot --what time -m itanium2 --sizes 6 nest.pmdb | $drawn"
golden error.plot.loop.txt pmodel report --as plot --what time -m r12000 nest.pmdb stencill/2
golden error.plot.what.txt pmodel report --as plot --what pie -m r12000 nest.pmdb
golden error.html.parameters.txt pmodel report --as page -m r12000 -o two.html two.pmdb

# ---- export ------------------------------------------------------------------------------------------

golden export.json pmodel show --as histograms nest.pmdb -P N=24 --block 64
golden export.csv pmodel show --as histograms nest.pmdb -P N=24 --block 64,4096 --format csv
golden export.routine.json pmodel show --as histograms nest.pmdb --block 64 --routine triangle,copy
golden export.group.csv pmodel show --as histograms nest.pmdb -P N=48 --group 'u,w*' --format csv
golden export.threads.json pmodel show --as histograms turns.pmdb -P N=64 --threads
golden export.threads.csv pmodel show --as histograms turns.pmdb --threads --format csv
golden export.shared.json pmodel show --as histograms shared.pmdb --shared
golden export.shared.csv pmodel show --as histograms shared.pmdb --shared --format csv
golden export.carried.json pmodel show --as carried carry.pmdb --block 64 --routine stencil,gather
golden export.carried.csv pmodel show --as carried carry.pmdb --block 64 --format csv
golden export.bytes.csv pmodel show --as histograms bytes.pmdb --format csv
golden export.sample.json pmodel show --as histograms sample.pmdb
golden export.bounded.csv pmodel show --as histograms bounded.pmdb --format csv
golden export.bins.csv pmodel show --as histograms bins.pmdb --format csv --routine gather
golden export.builds.csv pmodel show --as histograms fixed.pmdb --block 64 -P N=24 --format csv
golden export.file.txt pmodel show --as histograms nest.pmdb -P N=24 --block 64 --group where -o where.json
golden export.file.json cat where.json
golden export.callgrind.txt pmodel report --as callgrind nest.pmdb -m r12000 -P N=128
golden export.folded.txt pmodel report --as folded --of L2m nest.pmdb -m r12000 -P N=128
golden export.extrap.txt pmodel report --as extrap nest.pmdb -m r12000 -P N=48

# ---- scale -------------------------------------------------------------------------------------------

formats scale pmodel report --as scaling -P N=16:112:48 -m r12000 --per 'N^2' nest.pmdb
golden scale.machines.txt pmodel report --as scaling -P N=24,96 -m r12000,itanium2 --wide nest.pmdb
# (In which set of a TLB a page lies differs from run to run.)
golden scale.two.txt pmodel report --as scaling -P A=8:24:8 -P B=16 -m icelake-sp --set DTLB.ways=0 --min-percent 100 two.pmdb
golden scale.svg pmodel report --as scaling -P N=16:112:48 -m r12000 --per 'N^2' --format svg nest.pmdb

# ---- signatures ------------------------------------------------------------------------------------

golden signature.txt pmodel machines --curves --profile nest.pmdb -P N=96 r12000
golden signature.csv pmodel machines --curves --format csv r12000
formats convolve pmodel report --as convolution -P N=96 -m r12000,itanium2 nest.pmdb
golden convolve.measured.txt pmodel report --as convolution -P N=24 -m r12000 --top 3 --wide nest.pmdb
formats roofline pmodel report --as roofline -P N=96 -m itanium2 nest.pmdb
golden roofline.svg pmodel report --as roofline -P N=24 -m r12000 --format svg nest.pmdb nest.pmdb
golden report.signature.txt pmodel report -P N=96 -m r12000 --time signature nest.pmdb
golden error.convolve.profile.txt pmodel report --as convolution -m r12000 nest.pmdb

# ---- validate ----------------------------------------------------------------------------------------

formats validate pmodel validate -s coarse.pmdb -P N=80 --caches 64,512 -- ./nest '{N}'
golden validate.machine.txt pmodel validate -s nest.pmdb -m r12000,icelake-sp --caches 64,1024 -P N=72,88 \
    --keep kept.pmdb -- ./nest '{N}'
golden validate.again.txt pmodel validate -s nest.pmdb --keep kept.pmdb --block 4096 --caches 4,64 -P N=72 \
    --top 2 --min-percent 5 -- ./nest '{N}'
golden validate.no_memory.txt pmodel validate -q -s counts.pmdb --no-memory -P N=80 -- ./nest '{N}'
golden validate.two.txt pmodel validate -s two.pmdb --caches 64 -P A=28 -P B=44,48 -- ./two '{A}' '{B}'
golden validate.builds.txt pmodel validate -s fixed.pmdb --caches 64 -P N=56 \
    --build "gcc $portable -O2 $plugin -D N={N} -o fixed fixed.c" -- ./fixed
formats validate.hierarchy pmodel validate --hierarchy -s coarse.pmdb --caches 64,512
golden validate.hierarchy.counts.txt pmodel validate --hierarchy -s nest.pmdb --counts 'fp_add,fp_mult' --caches 64 --top 3
golden validate.hierarchy.size.txt pmodel validate --hierarchy -s coarse.pmdb --caches 64 -P N=80 -- ./nest '{N}'

# ---- machines ----------------------------------------------------------------------------------------

mkdir machines
cp own.conf machines/mine.conf
golden machines.txt pmodel machines
golden machines.r12000.txt pmodel machines r12000
golden machines.file.txt pmodel machines ./own.conf
golden machines.folder.txt env PMODEL_MACHINES=machines pmodel machines
cat >derived.conf <<'CONF'
# Twice the cache, from a letter.
include = "r12000"
title   = "R12000 with 16 MiB"
sources = "[1] a letter"
cache L2 { size = 16MiB  latency = 12  source = "[1]"  not_verified = {latency} }
CONF
golden machines.diff.txt pmodel machines --diff r12000 derived.conf
golden machines.diff.json pmodel machines --diff r12000 derived.conf --set derived:TLB.entries=128 --format json
golden machines.check.txt pmodel machines --check derived.conf
golden machines.set.csv pmodel machines derived.conf --set L2.size=2MiB --format csv
golden machines.same.txt pmodel machines --diff r12000 r12000

# ---- mistakes ----------------------------------------------------------------------------------------

golden error.no_command.txt pmodel
golden error.command.txt pmodel frobnicate
while read -r command; do
    file=${command// --as /.}
    file=${file// --/.}
    case $command in probe | machines | doctor | flags) ;; *)
        # shellcheck disable=SC2086
        golden "error.nothing.$file.txt" pmodel $command ;;
    esac
    # shellcheck disable=SC2086
    golden "error.option.$file.txt" pmodel $command --frobnicate
done <commands
golden error.view.txt pmodel report --as lopp nest.pmdb
golden show.txt pmodel show nest.pmdb
golden show.json pmodel show --format json carry.pmdb
golden error.flags.txt pmodel flags more
golden error.machines.txt pmodel machines cray
sed 's/8MiB/8QiB/' "$BUILD/share/pmodel/machines/r12000.conf" >caret.conf
golden error.machines.caret.txt pmodel machines --check caret.conf
golden error.machines.set.txt pmodel machines r12000 --set L3.size=4MiB
golden error.machines.diff.txt pmodel machines --diff r12000
golden error.machines.set_nothing.txt pmodel machines --set L2.size=4MiB
golden error.loops.missing.txt pmodel loops ./nothing
golden error.loops.not_elf.txt pmodel loops nest.c
head -c 3000 nest >short
golden error.loops.truncated.txt pmodel loops short
golden error.loops.summary.txt pmodel loops --summary nest.c ./nest ./nothing
golden error.loops.format.txt pmodel loops --format xml ./nest
golden error.loops.routine.txt pmodel loops --routine nobody ./nest
golden error.loops.dump.txt pmodel loops --dump tree ./nest
golden error.loops.graph.txt pmodel loops --dump formulas --dump-format dot ./nest
golden error.loops.interval.txt pmodel loops --interval nobody ./nest
golden error.loops.level.txt pmodel loops --mix --level file ./nest
golden error.loops.svg.txt pmodel loops --svg _start ./nest
golden error.loops.check.txt pmodel loops --check ./bare
printf 'isa x86-64\nno_class: addsd\n' >bad.classes
golden error.loops.classes.txt pmodel loops --mix --classes bad.classes ./nest
golden error.run.static.txt pmodel run -o new.pmdb -- ./static 4 4
golden error.run.script.txt pmodel run -o new.pmdb -- ./script 16
golden error.run.exe.txt pmodel run -q -o new.pmdb --exe ./nest -- true
golden error.run.missing.txt pmodel run -o new.pmdb -- ./nothing
golden error.run.values.txt pmodel run -o new.pmdb -P N=16:8 -- ./nest '{N}'
golden error.run.name.txt pmodel run -o new.pmdb -P N=16 -- ./nest '{M}'
golden error.run.where.txt pmodel run -o new.pmdb -P N=16 --where 'N%%4' -- ./nest '{N}'
golden error.run.nowhere.txt pmodel run -o new.pmdb -P N=16 --where 'N>20' -- ./nest '{N}'
golden error.run.block.txt pmodel run -o new.pmdb --block 48 -P N=16 -- ./nest '{N}'
golden error.run.sample.txt pmodel run -o new.pmdb --sample 3 -P N=16 -- ./nest '{N}'
golden error.run.excluded.txt pmodel run -o new.pmdb --carry --sample 1/4 -P N=16 -- ./nest '{N}'
golden error.run.rejected.txt pmodel run -o rejected.pmdb -P N=16,2 -- ./nest '{N}'
golden error.run.other_program.txt pmodel run -o nest.pmdb -P N=16 -- ./nest3 '{N}'
golden error.run.build.txt pmodel run -o new.pmdb -P N=16,24 --build 'echo no compiler for {N} >&2; exit 4' -- ./fixed
golden error.run.library.txt pmodel run -o new.pmdb --lib libnothing -P N=16 -- ./nest '{N}'
golden error.instrument.txt pmodel run --instrument -o new ./static
golden error.plan.txt pmodel plan -- ./nest 16
golden error.plan.time.txt pmodel plan -P N=16:32:8 --time soon -- ./nest '{N}'
golden error.report.role.txt pmodel report -m r12000 --role insid chain.pmdb
golden error.report.interval.txt pmodel report -m r12000 --interval nobody chain.pmdb
golden error.report.ordinal.txt pmodel report -m r12000 --ordinal t chain.pmdb
golden error.report.ranks.txt pmodel report --as ranks -m r12000 nest.pmdb
golden error.report.intervals.txt pmodel report --as intervals -m r12000 nest.pmdb
golden error.report.parallel.txt pmodel report --as intervals -m r12000 --fields time chain.pmdb
golden error.model.communication.txt pmodel report --as formulas --communication nest.pmdb
golden error.fit.few.txt pmodel fit few.pmdb
golden error.fit.basis.txt pmodel fit --basis '1, N, squared(N)' renewed.pmdb
golden error.fit.basis.name.txt pmodel fit --basis '1, M' renewed.pmdb
golden error.fit.scope.txt pmodel fit --basis 'nobody/2=1, N' renewed.pmdb
golden error.store.missing.txt pmodel fit none.pmdb
printf 'just text\n' >text.pmdb
golden error.store.text.txt pmodel report -m r12000 text.pmdb
head -c 5000 nest.pmdb >cut.pmdb
golden error.store.cut.txt pmodel report -m r12000 cut.pmdb
damaged() { # STORE SQL: a copy of nest.pmdb, damaged
    cp nest.pmdb "$1.pmdb" && sqlite3 "$1.pmdb" "$2"
}
damaged histograms "update histogram set data = x'28b52ffd00', accesses = 7"
damaged edges "update edges set counts = x'0011'"
damaged structure "update structure set data = substr(data, 1, 100)"
damaged models "update models set data = x'00'"
damaged future "pragma user_version = 99"
for part in histograms edges structure models future; do
    golden error.store.$part.txt pmodel report -m r12000 -P N=48 $part.pmdb
    golden error.store.$part.predicted.txt pmodel report -m r12000 -P N=96 $part.pmdb
    golden error.store.$part.query.txt pmodel query -P N=96 --cache 4K $part.pmdb
    golden error.store.$part.export.txt pmodel show --as histograms $part.pmdb --routine triangle --block 64 -P N=16
    golden error.store.$part.fit.txt pmodel fit $part.pmdb
done
golden error.model.no_models.txt pmodel report --as formulas few.pmdb
golden error.model.class.txt pmodel report --as formulas --classes fp_sum nest.pmdb
golden error.model.routine.txt pmodel report --as formulas --routine nobody nest.pmdb
golden error.model.level.txt pmodel report --as formulas --level file nest.pmdb
golden error.model.parameter.txt pmodel report --as formulas -P M=3 nest.pmdb
golden error.report.machine.txt pmodel report -m cray nest.pmdb
golden error.report.parameter.txt pmodel report -m r12000 -P M=3 nest.pmdb
golden error.report.value.txt pmodel report -m r12000 -P N=x nest.pmdb
golden error.report.no_models.txt pmodel report -m r12000 -P N=99 few.pmdb
golden error.report.outside.txt pmodel report -m r12000 -P N=-5 nest.pmdb
golden error.report.block.txt pmodel report -m r12000 coarse.pmdb
golden error.report.no_machine.txt pmodel report coarse.pmdb
golden error.report.interpolate.txt pmodel report --as carried --interpolate -m r12000 carry.pmdb
golden error.report.measured_block.txt pmodel report -m r12000 -P N=24 run.pmdb
golden error.report.two_block.txt pmodel report -m r12000 two.pmdb
golden error.query.interpolate.txt pmodel query --fits --interpolate -m r12000 coarse32.pmdb
golden error.run.machine.txt pmodel run --no-memory -m r12000 -o none.pmdb -P N=16 -- ./nest '{N}'
golden error.report.carried.txt pmodel report --as carried -m r12000 nest.pmdb
golden error.report.deps.txt pmodel report --deps none nest.pmdb
golden error.report.fields.txt pmodel report -m r12000 --fields time,lop nest.pmdb
golden error.report.sort.txt pmodel report -m r12000 --sort lop nest.pmdb
golden error.report.tree.txt pmodel report --as tree -m r12000 -P N=24,32 nest.pmdb
golden error.report.tree.json pmodel report --as tree -m r12000 --format json nest.pmdb
golden error.report.sizes.txt pmodel report -m r12000 --fits -P N=24,32 nest.pmdb
golden error.explain.loop.txt pmodel report --as loop -m r12000 nest.pmdb stencli/2
golden error.explain.machine.txt pmodel report --as loop nest.pmdb
golden error.diff.mixed.txt pmodel diff -m r12000 nest.pmdb ./nest
golden error.diff.machine.txt pmodel diff nest.pmdb nest3.pmdb
golden error.diff.fields.txt pmodel diff -m r12000 --fields speed nest.pmdb nest3.pmdb
golden error.annotate.file.txt pmodel report --as source -m r12000 nest.pmdb nets.c
golden error.compare.weight.txt pmodel compare -m r12000,itanium2 nest.pmdb:heavy
golden error.compare.size.txt pmodel compare -m r12000,itanium2 nest.pmdb@M=3
golden error.compare.machine.txt pmodel compare -m r12000 nest.pmdb
golden error.explain.never.txt pmodel report --as loop -m r12000 nest.pmdb deregister_tm_clones
golden error.report.top.txt pmodel report --top few nest.pmdb
sed 's/clock_mhz *=/clock_hurts =/' "$BUILD/share/pmodel/machines/r12000.conf" >bad.conf
golden error.report.machine_file.txt pmodel report -m ./bad.conf nest.pmdb
golden error.query.nothing.txt pmodel query nest.pmdb
golden error.query.all.txt pmodel query -P N=96 --cache 4K --hit-ratio 0.9 nest.pmdb
golden error.query.ratio.txt pmodel query -P N=96 --hit-ratio 1.5 nest.pmdb
golden error.query.cache.txt pmodel query -P N=96 --cache large nest.pmdb
golden error.query.scope.txt pmodel query -P N=96 --cache 4K --scope nobody nest.pmdb
golden error.query.block.txt pmodel query -P N=96 --cache 4K --block 512 nest.pmdb
golden error.query.parameter.txt pmodel query --cache 4K --hit-ratio 0.9 two.pmdb
golden error.query.no_models.txt pmodel query -P N=96 --cache 4K few.pmdb
golden error.export.what.txt pmodel show --as histgrams nest.pmdb
golden error.export.size.txt pmodel show --as histograms nest.pmdb -P N=17
golden error.export.shared.txt pmodel show --as histograms --shared nest.pmdb
golden error.export.carried.txt pmodel show --as carried nest.pmdb
golden error.export.block.txt pmodel show --as histograms --block 512 nest.pmdb
golden error.export.group.txt pmodel show --as histograms --group nothing nest.pmdb
golden error.scale.nothing_varies.txt pmodel report --as scaling -P N=32 -m r12000 nest.pmdb
golden error.scale.two_vary.txt pmodel report --as scaling -P A=8,16 -P B=8,16 -m icelake-sp two.pmdb
golden error.scale.parameter.txt pmodel report --as scaling -P M=8,16 -m r12000 nest.pmdb
golden error.scale.per.txt pmodel report --as scaling -P N=8,16 -m r12000 --per 'N-16' nest.pmdb
golden error.scale.per.name.txt pmodel report --as scaling -P N=8,16 -m r12000 --per 'M^2' nest.pmdb
golden error.scale.machine.txt pmodel report --as scaling -P N=8,16 nest.pmdb
golden error.scale.block.txt pmodel report --as scaling -P N=16,32 -m r12000 coarse.pmdb
golden error.scale.no_models.txt pmodel report --as scaling -P N=16,32 -m r12000 few.pmdb
golden error.scale.format.txt pmodel report --as scaling -P N=16,32 -m r12000 --format png nest.pmdb
golden error.validate.time.machine.txt pmodel validate --time -s nest.pmdb -P N=32 -- ./nest '{N}'
golden error.validate.time.caches.txt pmodel validate --time --caches 64 -s nest.pmdb -m r12000 -P N=32 -- ./nest '{N}'
golden error.validate.time.repeat.txt pmodel validate --repeat 3 -s nest.pmdb -P N=32 -- ./nest '{N}'
golden error.validate.time.measured.txt pmodel validate --time --measured nest.c -s nest.pmdb -m r12000
golden error.validate.time.block.txt pmodel validate --time -s coarse.pmdb -m r12000 -P N=80 -- ./nest '{N}'
golden error.validate.no_models.txt pmodel validate -s few.pmdb -P N=32 -- ./nest '{N}'
golden error.validate.other_program.txt pmodel validate -s nest.pmdb -P N=32 -- ./nest3 '{N}'
golden error.validate.rejected.txt pmodel validate -s coarse.pmdb --caches 64 -P N=200 -- ./nest '{N}'

# ---- communication ---------------------------------------------------------------------------------

formats communication pmodel show --as communication -P N=20,p=4 chain.pmdb
golden communication.rank.txt pmodel show --as communication -P N=20,p=4 --rank 1 chain.pmdb
golden communication.matrix.txt pmodel show --as communication -P N=20,p=4 --matrix chain.pmdb
golden communication.matrix.csv pmodel show --as communication -P N=20,p=4 --matrix --format csv chain.pmdb
golden communication.trace.txt pmodel show --as communication -P N=20,p=4 --trace 1 chain.pmdb
golden communication.trace.csv pmodel show --as communication -P N=20,p=4 --trace 1 --format csv chain.pmdb
golden error.communication.none.txt pmodel show --as communication nest.pmdb
golden error.communication.size.txt pmodel show --as communication -P N=99,p=4 chain.pmdb
golden error.communication.rank.txt pmodel show --as communication -P N=20,p=4 --rank 7 chain.pmdb

# ---- nothing else is kept -------------------------------------------------------------------------------

find "$kept" -type f \( -name '*.txt' -o -name '*.json' -o -name '*.csv' -o -name '*.dot' \) -printf '%f\n' |
    sort | comm -23 - <(sort names) >left_over
if [ -n "${GOLDEN_RENEW-}" ]; then
    (cd "$kept" && xargs -r rm <"$TMP/left_over")
fi
check "each invocation has a name of its own" sh -c '! sort names | uniq -d | grep .'
if [ -s left_over ] && [ -z "${GOLDEN_RENEW-}" ]; then
    fail "every kept output is of an invocation" "$(tr '\n' ' ' <left_over)"
else
    pass "every kept output is of an invocation"
fi
