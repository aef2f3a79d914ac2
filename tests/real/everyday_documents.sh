# Figures, pages, statistics and films; what draws is in libraries that some of them load while they run.
# time limit: 1800 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/behaviour.bash"

for name in $everyday_documents; do
    same_behaviour "$name" whole
    real_coverage "$name" short
done
