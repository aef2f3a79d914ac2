# A compiler whose code is in two libraries of 60 and 100 MB.
# time limit: 3600 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/behaviour.bash"

for name in $everyday_compilers; do
    same_behaviour "$name" whole
    real_coverage "$name" short
done
