# A short choice of the programs of `make check-real`, as Debian installs them, on short input: an interpreter,
# a program with OpenMP, and one with the library in which it works.
# time limit: 600 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/behaviour.bash"

for name in mawk fasttree xz; do
    same_behaviour $name short
done
real_coverage fasttree short
real_coverage xz short
