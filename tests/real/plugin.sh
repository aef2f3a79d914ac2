# The plugin leaves code, debug information and diagnostics of whole applications alone, with all options that
# tests/e2e/plugin.sh has for small sources.
# time limit: 900 s
# shellcheck shell=bash
. "$TOP/tests/lib.sh"

# shellcheck source=tests/plugin/plugin.bash
. "$TOP/tests/plugin/plugin.bash"

for app in "$APPS"/*/; do
    case $app in *_mpi/ | */kernels/) continue ;; esac # need what MPI's compilers find, or are parts of others
    same_with_options "$app"*.[cf]* <<OPTIONS
$ALL_OPTIONS
OPTIONS
done
