# Interpreters: one in assembly language with a compiler just in time (luajit), and threaded ones.
# time limit: 900 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/behaviour.bash"

for name in $everyday_interpreters; do
    same_behaviour "$name" whole
    real_coverage "$name" short
done
