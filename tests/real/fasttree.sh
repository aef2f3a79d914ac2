# FastTree, as Debian installs it: a program with OpenMP, by GCC and with its libgomp.
# time limit: 600 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/behaviour.bash"

same_behaviour fasttree whole
real_coverage fasttree short
