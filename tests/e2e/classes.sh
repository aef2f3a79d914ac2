# Instruction classes and the mix of compiled programs, beside what objdump prints of the same code.
. "$TOP/tests/lib.sh"

# What the C library's start-up files bring along has no sizes in the symbol table.
startup='_start|_dl_relocate_static_pie|(de)?register_tm_clones|__do_global_dtors_aux|frame_dummy'

# list_classes: "CLASS NUMBER" for the operations of each class that the program has, by the rows of `--mix`
list_classes() {
    jq -r "[.rows[] | select(.name | test(\"^($startup)\$\") | not) | .mix[]] | group_by(.class)[] |
        \"\(.[0].class) \(map(.count) | add)\"" mix.json
}

# mnemonics PATTERN: how many instructions objdump names so
mnemonics() {
    grep -cE -e "^($1)\$" mnemonics.txt
}

# objdump's mnemonics are AT&T's: scalar conversions and integers may end in b, w, l, q.
same_counts() {
    local each class pattern ours theirs differ='' number
    local -A counts=()
    while read -r class number; do counts[$class]=$number; done < <(list_classes)
    for each in \
        'fp_add=v?(add|sub)[sp][sd]|v?addsubp[sd]' \
        'fp_mult=v?mul[sp][sd]' \
        'fp_fma=vfn?m(add|sub|addsub|subadd)[123]{3}[sp][sd]' \
        'fp_div=v?div[sp][sd]' \
        'fp_sqrt=v?sqrt[sp][sd]' \
        'fp_compare=v?(u?comi|cmp[a-z_]*|max|min)[sp][sd]' \
        'fp_convert=v?cvt.*|v?round[sp][sd]|vrndscale[sp][sd]' \
        'int_mult=i?mul[bwlq]?|mulx|v?pmul.*|v?pmadd.*' \
        'int_div=i?div[bwlq]?' \
        'cond_move=cmov.*|set(n?[abglezsop]|n?[abgl]e)' \
        'mask=k(mov|and|andn|or|xor|xnor|not|ortest|test|shift[lr]|add|unpck)[bwdq]*|vpmov([bwdq]2m|m2[bwdq])' \
        'gather=vp?gather[dq](p[sd]|[dq])' \
        'scatter=vp?scatter[dq](p[sd]|[dq])' \
        'branch=j[a-ln-z].*' \
        'return=ret' \
        'call=call'; do
        class=${each%%=*} pattern=${each#*=}
        ours=${counts[$class]-0} theirs=$(mnemonics "$pattern")
        [ "$ours" = "$theirs" ] || differ+=" $class: $ours, objdump $theirs;"
    done
    echo "$differ"
    [ -z "$differ" ]
}

# Mnemonics of what is in symbols of the program's own code, prefixes left out.
list_mnemonics() {
    objdump -d --no-show-raw-insn -j .text "$1" |
        awk -v startup="<($startup)>:" '/^[0-9a-f]+ </ {wanted = $0 !~ startup} wanted' |
        sed -nE 's/^ +[0-9a-f]+:\t//p' |
        sed -E 's/^((bnd|notrack|lock|rep[a-z]*|data16|cs|ds|es) )+//; s/[ \t{].*//' >mnemonics.txt
}

for app in heat fft cg; do
    for flags in '-O0' '-O2' '-O3 -march=x86-64-v3' '-O3 -march=x86-64-v4 -mprefer-vector-width=512' \
        '-O3 -march=x86-64-v4 -ffast-math -funroll-loops'; do
        source=$(ls "$TOP/bench/apps/$app/$app".{c,f90} 2>/dev/null)
        case $source in *.c) compiler=gcc-12 ;; *) compiler=gfortran-12 ;; esac
        # shellcheck disable=SC2086
        $compiler -g $flags -o program "$source" -lm || fail "$app $flags compiles"
        pmodel loops --mix --level routine --format json program >mix.json
        list_mnemonics program
        check "$app $flags: classes count what objdump counts" same_counts
        check "$app $flags: no instruction without a class" \
            jq -e '.total.unknown_instructions == []' mix.json
    done
done

# ---- the mix adds up -------------------------------------------------------------------------------

adds_up() {
    local level
    for level in block loop routine module program; do
        pmodel loops --mix --level $level --format json program >mix-$level.json || return 1
        jq -e '([.rows[].operations] | add) == .total.operations and
            ([.rows[].instructions] | add) == .total.instructions and
            ([.rows[] | ([.mix[].count] | add) == .operations] | all) and
            ([.rows[] | ([.mix[].share] | add) - 1 | fabs < 1e-9] | all)' \
            mix-$level.json >/dev/null || return 1
    done
    [ "$(jq -c .total mix-block.json)" = "$(jq -c .total mix-loop.json)" ] &&
        [ "$(jq -c .total mix-block.json)" = "$(jq -c .total mix-routine.json)" ]
}
check 'shares of blocks, loops and routines add up to the same whole' adds_up

csv_is_json() {
    [ "$(pmodel loops --mix --format csv program | awk -F, 'NR > 1 {n += $(NF - 2)} END {print n}')" = \
        "$(jq .total.operations mix-loop.json)" ]
}
check 'CSV has the same operations as JSON' csv_is_json

whole_loops_output() {
    [ "$(jq .total.instructions mix-block.json)" -le \
        "$(pmodel loops --format json program | jq .statistics.instructions)" ]
}
check 'the mix has no more instructions than were decoded' whole_loops_output

# ---- a file of one's own ---------------------------------------------------------------------------

printf 'isa x86-64\nstring: ret\nfp_sqrt + fp_add: mulsd vmulsd vmulpd vfmadd*\n' >own.classes
own_file() {
    pmodel loops --mix --format json --classes own.classes program | jq -e \
        '[.rows[].mix[] | select(.class == "fp_sqrt") | .count] | add > 0'
}
check 'a file given by --classes counts more than the shipped one' own_file

own_folder() {
    mkdir -p mine && cp own.classes mine/x86-64.classes
    [ "$(PMODEL_MACHINES=$PWD/mine pmodel loops --mix --format json program | jq -c .total)" = \
        "$(pmodel loops --mix --format json --classes own.classes program | jq -c .total)" ]
}
check 'the folder $PMODEL_MACHINES is looked into' own_folder

printf 'isa x86-64\nfp_mult: mulsd\nfp_sqr: vmulsd\n' >wrong.classes
expect_error 'a mistake is told with its line' 2 'wrong.classes:3: there is no class "fp_sqr"' \
    pmodel loops --classes wrong.classes program
expect_error 'a file that is not there' 2 'absent.classes' \
    pmodel loops --classes absent.classes program
expect_error 'a level that there is not' 2 'block, loop, routine, module or program' \
    pmodel loops --mix --level all program
expect_error 'run refuses it as well' 2 'wrong.classes:3' \
    pmodel run -o x.pmdb --classes wrong.classes -P N=8 -- ./program '{N}'

# ---- an instruction without a class ----------------------------------------------------------------

# `unknown` is a class like the others, so a file can take a class away.
printf 'isa x86-64\nunknown: mulsd addsd imul\n' >less.classes
gcc-12 -O1 -o plain "$TOP/bench/apps/heat/heat.c" -lm
expected=$(objdump -d plain | grep -cE '\s(mulsd|addsd|imul)\s')
unknown_is_named() {
    pmodel loops --format json --classes less.classes plain >less.json &&
        [ "$(jq .statistics.unknown_instructions less.json)" = "$expected" ] &&
        [ "$(jq '[.statistics.unknown_mnemonics[].count] | add' less.json)" = "$expected" ] &&
        jq -e '[.statistics.unknown_mnemonics[].mnemonic] | index("mulsd") != null' less.json &&
        pmodel loops --classes less.classes plain | tr -s '\n ' ' ' | grep 'class (.*mulsd [0-9]' &&
        pmodel loops --mix --classes less.classes plain | grep 'unknown: .*mulsd [0-9]'
}
check 'instructions without a class are counted and named' unknown_is_named

reported() {
    pmodel run -q -o less.pmdb --classes less.classes -P N=16 -- ./plain '{N}' >/dev/null &&
        pmodel report less.pmdb -m icelake-sp -P N=16 | tr -s '\n ' ' ' | grep 'unknown (.*mulsd'
}
check 'a report names them' reported

reclassified() {
    pmodel run -q -o less.pmdb -P N=16 -- ./plain '{N}' >/dev/null &&
        pmodel report less.pmdb -m icelake-sp -P N=16 >after.txt &&
        ! grep 'unknown (' after.txt
}
check 'a run with other classes changes those of the store' reclassified
