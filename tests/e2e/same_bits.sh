# A figure is the same to the last bit in every command, whatever was worked out before it, in whatever order machines, sizes and
# programs are asked for, on one thread or several, and whatever fresh memory holds (tests/same/); of many stores in real/same_stores.
. "$TOP/tests/lib.sh"
. "$TOP/tests/same/stores.bash"

few_stores
python3 "$TOP/tests/same/same_bits.py" stores
