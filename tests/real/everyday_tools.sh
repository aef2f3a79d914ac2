# Packers, checksums and ciphers, and what every shell has, with threads and child processes.
# time limit: 1200 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/behaviour.bash"

for name in $everyday_tools; do
    same_behaviour "$name" whole
    real_coverage "$name" short
done
