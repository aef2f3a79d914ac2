# The shares of hits that the points of a machine's curves have, against cachegrind's first level: of the same addresses.
# shellcheck shell=bash
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

TRUTH_LIBRARIES=machines truth_tool curve_streams

# "FUNCTION MISSES" of loads in the first level, by cachegrind's output.
misses_by_function() {
    awk '/^events: / { for (i = 2; i <= NF; i++) if ($i == "D1mr") column = i }
        /^fn=/ { name = substr($0, 4); next }
        /^[0-9]/ && name { misses[name] += $column }
        END { for (name in misses) if (name ~ /^stream_/) print name, misses[name] }' cachegrind.out | sort
}

while read -r size ways; do
    valgrind --tool=cachegrind --cache-sim=yes --vex-iropt-level=0 --I1=1048576,16,64 --D1="$size,$ways,64" --LL=8388608,16,64 \
        --cachegrind-out-file=cachegrind.out ./curve_streams "$size" "$ways" 64 >points 2>cachegrind.log
    join <(sort points) <(misses_by_function) | sed "s/^/$size,$ways /" >>compared
done <<'CACHES'
4096 1
24576 12
32768 8
CACHES

# CACHE FUNCTION STRIDE BYTES ACCESSES SHARE MISSES
awk '{ d = $6 - (1 - $7 / $5); if (d < 0) d = -d; if (d >= most) { most = d; at = $0 } }
    END { printf "%d points; the furthest by %.5f: %s\n", NR, most, at }' compared
within() { awk '{ d = $6 - (1 - $7 / $5); bad += d > 0.001 || d < -0.001 } END { exit !(bad == 0 && NR == 120) }' compared; }
check "shares of hits are within 0.1 percentage points of cachegrind's" within
spread() { awk '$6 > 0.99 { all++ } $6 < 0.01 { none++ } $6 > 0.01 && $6 < 0.99 { some++ } END { exit !(all > 10 && none > 10 && some > 20) }' compared; }
check "of points that hit always, never and at times" spread
