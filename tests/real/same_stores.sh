# As e2e/same_bits, of twenty stores.
# time limit: 1800 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/same/stores.bash"

few_stores
more_stores
python3 "$TOP/tests/same/same_bits.py" stores
