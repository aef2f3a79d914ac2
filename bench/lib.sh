# What the scripts of this folder share: `. "$here/lib.sh"`.  PATH has pmodel, BUILD is the build
# folder, ONLY=name,… restricts the programs.  bench/apps/sizes.conf says what its lines mean.
# shellcheck shell=bash
apps=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/apps
sizes=$apps/sizes.conf

say() { printf '%s\n' "$*" >&2; }
die() { say "$0: $*"; exit 2; }

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
    local known command
    known=$(dirname "${BASH_SOURCE[0]}")/../machines/measured/$(cpu_file_name).conf
    read -ra command <<<"${ALONE-}"
    if [ -n "${MACHINE-}" ]; then
        cp "$MACHINE" "$1"
    elif [ -s "$known" ]; then
        cp "$known" "$1"
    elif [ ! -s "$1" ]; then
        say "probe this machine"
        "${command[@]}" pmodel probe -o "$1"
    fi
}

# Open MPI starts as root, and as many processes as are asked for, on any core.
start_anywhere() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
}

# build_mpi_times FILE: what times the calls of programs with Open MPI when it is loaded before them.
build_mpi_times() {
    local sources
    sources=$(dirname "${BASH_SOURCE[0]}")/replay
    mpicc.openmpi -O2 -shared -fPIC -o "$1" "$sources/mpi_times.c" "$sources/waiting.c"
}

cpu_name() { sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -1; }
