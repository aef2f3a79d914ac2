# Processes that a signal, abort or a fault of their own ends: their status and what they see of their signals
# is that of the plain program, and what they measured until then is there, marked.
. "$TOP/tests/lib.sh"
. "$TOP/tests/endings/endings.bash"

for way in "abort 6" "assert 6" "null 11" "divide 8" "illegal 4" "overflow 11" "overflow-thread 11" \
    "overflow-handler 11" "abort-thread 6" "reset 15" "again 2" "suspend 15" "alarm 14" "pipe 13" \
    "file-size 25" "child 6" "exec-x 15" "raise-1 1" "raise-3 3" "raise-5 5" "raise-10 10" "raise-24 24" \
    "raise-31 31" "raise-34 34" "raise-64 64"; do
    read -r name signal <<<"$way"
    same_end "$name" "$signal" "$name"
done
for name in vfork exec-ignored raise-17 raise-28 look; do
    same_end "$name is as without us" 0 "$name"
done
for settings in PMODEL_SECOND_CORE=1 PMODEL_SHARED=1 PMODEL_CHECKPOINT=1; do
    SETTINGS=$settings same_end "abort in a thread, $settings" 6 abort-thread
done

cat >terminate.cc <<'EOF_TERMINATE'
#include <stdexcept>
int main(int argc, char **) { if (argc) throw std::runtime_error("unhandled"); }
EOF_TERMINATE
g++ -O1 -g -o terminate terminate.cc && pmodel run --instrument -q -o terminate-i terminate
rm -rf raw && mkdir raw
check "an exception that nobody catches" \
    test "$(./status ./terminate 2>&1) $(PMODEL_OUT=$TMP/raw ./status ./terminate-i 2>&1)" = \
    "$(./status ./terminate 2>&1) $(./status ./terminate 2>&1)"
check "leaves a marked file" marked 6

random_moments 8 ask ""
random_moments 5 ask-threads ""
random_moments 3 ask-threads PMODEL_SECOND_CORE=1
random_moments 3 ask-threads PMODEL_SHARED=1
