# How each script of bench/ begins: `. "$(dirname "$0")/../lib/bench.bash"`.  PATH has pmodel, BUILD is the build
# folder, ONLY=name,… restricts the programs.  bench/apps/sizes.conf says what its lines mean.
#
#   TOP, bench, here   the sources, this folder's parent, and the folder of the script
#   alone              words of $ALONE, which stand before what measures time
# shellcheck shell=bash
# shellcheck disable=SC2034 # scripts use what is set here
set -euo pipefail
export LC_ALL=C.UTF-8
bench=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
TOP=$(dirname "$bench")
here=$(cd "$(dirname "$0")" && pwd)
apps=$bench/apps
sizes=$apps/sizes.conf
read -ra alone <<<"${ALONE-}"

say() { printf '%s\n' "$*" >&2; }
die() { say "$0: $*"; exit 2; }

# in_folder NAME: `folder` of the build, which may hold what an earlier call left.  new_folder NAME: the same, empty.
in_folder() {
    folder=$BUILD/$1
    mkdir -p "$folder"
}
new_folder() {
    rm -rf "${BUILD:?}/$1"
    in_folder "$1"
}

# page_of NAME: docs/NAME.md; of a part of the programs $BUILD/NAME.md.
page_of() { [ -z "${ONLY-}" ] && echo "$TOP/docs/$1.md" || echo "$BUILD/$1.md"; }

# wrap: a page in lines of at most 120 characters, from standard input to standard output.
wrap() { python3 "$bench/lib/wrap.py"; }

# size_value NAME KEY: what sizes.conf says; empty if nothing.
size_value() {
    local name key value
    while read -r name key value; do
        if [ "$name" = "$1" ] && [ "$key" = "$2" ]; then
            printf '%s\n' "$value"
            return
        fi
    done <"$sizes"
}

# The programs of sizes.conf, those of ONLY if it is set.
program_names() {
    local known name
    known=$(awk '$1 != "#" && $2 == "source" { print $1 }' "$sizes")
    if [ -z "${ONLY-}" ]; then
        printf '%s\n' "$known"
        return
    fi
    for name in ${ONLY//,/ }; do
        grep -qx -- "$name" <<<"$known" || die "ONLY: no program $name in $sizes"
        printf '%s\n' "$name"
    done
}

# build_program NAME FILE [FLAG]...: builds a program of sizes.conf with its flags and these.
build_program() {
    local name=$1 file=$2 source compiler flags
    shift 2
    source=$(size_value "$name" source)
    flags="$(size_value all flags) $(size_value "$name" flags)"
    case $source in
    *.f90) compiler="gfortran -J$(dirname "$file")" ;;
    *) compiler=gcc ;;
    esac
    # shellcheck disable=SC2086 # the flags are words
    $compiler $flags "$@" -o "$file" "$apps/$source" -lm
}

# program_arguments NAME KIND: one word a line, {N} standing for the size.
program_arguments() { size_value "$1" "$2.run" | tr -s ' ' '\n'; }

# VENDOR-FAMILY-MODEL of this processor, as cpuid has them: what files of machines/measured/ are called.
cpu_file_name() {
    awk -F': ' '/^vendor_id/ { v = $2 == "AuthenticAMD" ? "amd" : $2 == "GenuineIntel" ? "intel" : "other" }
        /^cpu family/ { f = $2 } /^model\t/ { m = $2 } /^$/ { print v "-" f "-" m; exit }' /proc/cpuinfo
}

# describe_this_machine FILE: MACHINE, or what is known of this processor in machines/measured/, or FILE as it is, or a probe.  ALONE stands
# before the probe.
describe_this_machine() {
    local known
    known=$TOP/machines/measured/$(cpu_file_name).conf
    if [ -n "${MACHINE-}" ]; then
        cp "$MACHINE" "$1"
    elif [ -s "$known" ]; then
        cp "$known" "$1"
    elif [ ! -s "$1" ]; then
        say "probe this machine"
        "${alone[@]}" pmodel probe -o "$1"
    fi
}

# Open MPI starts as root, and as many processes as are asked for, on any core.
start_anywhere() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
}

# build_mpi_times FILE: what times the calls of programs with Open MPI when it is loaded before them.
build_mpi_times() {
    mpicc.openmpi -O2 -shared -fPIC -o "$1" "$bench/accuracy/parallel/mpi_times.c" "$bench/accuracy/parallel/waiting.c"
}

cpu_name() { sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -1; }
