# Servers under their clients. What they execute depends on how long clients wait, so that callgrind's counts of
# another run are not theirs: only what they do is compared.
# time limit: 900 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/behaviour.bash"

for name in $everyday_servers; do
    same_behaviour "$name" whole
done
