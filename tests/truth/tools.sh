# The tools of this folder and the example applications, for the scripts that compare pmodel with
# something independent: `. "$TOP/tests/truth/tools.sh"`, after lib.sh in tests.
# shellcheck shell=bash

# shellcheck source=tests/build_once.bash
. "$TOP/tests/build_once.bash"

# show NAME COMMAND...: as check, and shows what the command says about how much it compared.
show() {
    local name=$1
    shift
    if "$@" >show.out 2>&1; then
        pass "$name"
        cat show.out
    else
        fail "$name" "$*"
        sed 's/^/    /' show.out | tail -n 40
    fi
}

# truth_tool NAME [FILE...]: builds NAME.c of this folder, with other files of it, into $TMP. The C library stands before the runtime,
# so that the runtime's wrappers of pthread_create and the like are not taken for the originals. TRUTH_LIBRARIES: more of our own; TRUTH_LINK: others.
truth_tool() {
    local name=$1 own_library libraries own=()
    shift
    for own_library in ${TRUTH_LIBRARIES-} core binlift; do
        own+=("$BUILD/libpm_$own_library.a")
    done
    read -ra libraries <<<"$(cat "$BUILD/ldlibs") ${TRUTH_LINK-}"
    build_once "truth $name" "$TMP/$name" \
        gcc -std=gnu11 -O2 -g -Wall -Wextra -Werror -I"$TOP" -fopenmp -o "$TMP/$name" \
        "$TOP/tests/truth/$name.c" "${@/#/$TOP/tests/truth/}" -Wl,--start-group "${own[@]}" \
        -Wl,--end-group "${libraries[@]}" -lpthread -ldl -lc \
        "$BUILD"/libpm_runtime.a
}

# truth_recorder: builds the handler that records all accesses as $TMP/record_trace.so.
truth_recorder() {
    build_once record_trace.so "$TMP/record_trace.so" gcc -std=gnu11 -O2 -g -Wall -Wextra -Werror -shared -fPIC \
        -I"$TOP" -o "$TMP/record_trace.so" "$TOP/tests/truth/record_trace.c"
}

# truth_app NAME [FLAG...]: an example application, marked, in $TMP: as `make apps` has built it, or with more flags.
# Valgrind stops at AVX-512.
truth_app() {
    local name=$1 flags compiler=gcc source=$TOP/bench/apps/$1/$1.c
    shift
    if [ $# -eq 0 ]; then
        cp "$BUILD/apps/$name" "$TMP/$name"
        return
    fi
    flags=$(pmodel flags) || return
    if [ ! -e "$source" ]; then
        compiler=gfortran source=$TOP/bench/apps/$name/$name.f90
    fi
    # shellcheck disable=SC2086 # the flags are several words
    build_once "app $name $*" "$TMP/$name" \
        "$compiler" -O3 -g -march=x86-64-v3 $flags "$@" -o "$TMP/$name" "$source" -lm
}

# truth_lackey PROGRAM ARGUMENT...: runs ./PROGRAM under lackey; all instructions and accesses are in PROGRAM.lackey.
# Unoptimised translations (--vex-iropt-level=0): the optimiser drops loads of unused values.
truth_lackey() {
    valgrind --tool=lackey --trace-mem=yes --vex-iropt-level=0 --log-file="$1.lackey" "./$@"
}
