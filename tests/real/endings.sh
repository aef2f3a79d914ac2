# Ends at a hundred random moments: of instrumented processes, with several kinds of analysis, and of `pmodel run`.
# time limit: 900 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/endings/endings.bash"
. "$TOP/tests/endings/interrupted.bash"

random_moments 100 ask ""
random_moments 100 ask-threads ""
for settings in PMODEL_SECOND_CORE=1 PMODEL_SHARED=1 PMODEL_CHECKPOINT=1; do
    random_moments 30 ask-threads $settings
done
random_interruptions 100
