# The plugin leaves code, debug information and diagnostics of whole applications, and of sources of C++ and Fortran, alone,
# with all options that tests/e2e/plugin.sh has for a source of C.
# time limit: 900 s
# shellcheck shell=bash
. "$TOP/tests/lib.sh"

# shellcheck source=tests/plugin/plugin.bash
. "$TOP/tests/plugin/plugin.bash"

for app in "$APPS"/*/; do
    case $app in *_mpi/ | */kernels/ | */interpreters/) continue ;; esac # of MPI, parts of others, no sources of C
    same_with_options "$app"*.[cf]* <<OPTIONS
$ALL_OPTIONS
OPTIONS
done
same_with_options "$SOURCES"/mixed.cc "$SOURCES"/strides.f90 <<OPTIONS
$ALL_OPTIONS
OPTIONS
