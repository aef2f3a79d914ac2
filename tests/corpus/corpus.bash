# What tests/e2e/corpus.sh and bench/accuracy/validate.sh share: builds the programs of this folder and the example
# applications with the plugin, and compares what is lifted with what the compiler said.
# `. tests/corpus/corpus.bash`; TOP is the top of the sources, PATH has pmodel.
# shellcheck shell=bash

# Paths of the corpus, and with `all` of the applications.
corpus_sources() {
    printf '%s\n' switches.c "$TOP"/tests/corpus/{jumps.c,loops.c,regions.c,exceptions.cc,fields.f90}
    if [ "${1-}" = all ]; then
        # The kernels are built for one extent and one kernel at a time (bench/accuracy/builds.sh), MPI programs by
        # a library's own compilers.
        ls "$TOP"/bench/apps/*/*.c "$TOP"/bench/apps/*/*.f90 | grep -v -e /kernels/ -e _mpi/
    fi
}

# corpus_build SOURCE PROGRAM OPTION...: with the plugin. switches.c is made on the way. Executable stacks
# (nested functions) and the speed of large structures in ABIs are noted by linker and compiler.
corpus_build() {
    local source=$1 program=$2 compiler flags
    shift 2
    flags=$(pmodel flags) || return
    case $source in
    switches.c)
        [ -s "$program.switches.c" ] || awk -f "$TOP/tests/corpus/switches.awk" >"$program.switches.c"
        source=$program.switches.c compiler=gcc-12
        ;;
    *.cc) compiler="g++-12 -std=c++17" ;;
    *.f90) compiler="gfortran-12 -J$(dirname "$program")" ;;
    *) compiler=gcc-12 ;;
    esac
    # shellcheck disable=SC2086 # words
    $compiler -g -w -fopenmp $flags "$@" -o "$program" "$source" -lm
}

# corpus_compare PROGRAM NAME OPTIONS: a line of JSON: what agrees with metadata, without, and of a copy that
# is stripped of metadata and symbols.
corpus_compare() {
    local program=$1
    objcopy --strip-all -R .pmodel "$program" "$program.stripped" &&
        pmodel loops --check --format json "$program" >"$program.json" &&
        pmodel loops --check --format json "$program" "$program.stripped" >"$program.stripped.json" &&
        jq -c --arg name "$2" --arg options "$3" --slurpfile stripped "$program.stripped.json" '
            def of(side): .routines | map({name, tables: .jump_tables, inner: side.inner_basic_blocks,
                equal: side.jump_tables_equal, cause: side.cause, at: side.at})
                | {routines: length, agree: map(select(.cause == null)) | length,
                   tables: map(.tables) | add, tables_equal: map(.equal) | add,
                   inner: map(select(.inner > 0).name),
                   differ: map(select(.cause != null) | {name, cause, at})};
            {name: $name, options: $options, with_metadata: of(.with_metadata), plain: of(.plain),
             stripped: ($stripped[0] | of(.plain)),
             strides: (.strides | {equal, different: (.differences | length), only_compiler, only_code, neither})}' \
            "$program.json"
}
