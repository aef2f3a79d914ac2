# python3, as Debian installs it, on a part of its own tests: an interpreter with computed gotos, threads,
# signals, child processes and extension modules that are loaded while it runs.
# time limit: 1200 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/behaviour.bash"

same_behaviour python3 whole
real_coverage python3 short
