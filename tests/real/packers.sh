# gzip, xz and bzip2 as Debian installs them: many files, a large one, a damaged one.
# time limit: 600 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/behaviour.bash"

for name in gzip xz bzip2; do
    same_behaviour $name whole
    real_coverage $name short
done
