# A short choice of this system's ELF files through the summary; `make sweep` takes all of them.
. "$TOP/tests/lib.sh"

choice=("$(command -v bash)" "$(command -v git)" "$(command -v perl)" /usr/lib/x86_64-linux-gnu/libc.so.6
    /usr/lib/x86_64-linux-gnu/libstdc++.so.6 /usr/lib/x86_64-linux-gnu/libm.so.6
    "$(gcc-12 -print-prog-name=cc1)" "$(gfortran-12 -print-prog-name=f951)"
    "$(gcc-12 -print-file-name=libgfortran.so)" "$(gcc-12 -print-file-name=crti.o)")
check "no file of the choice fails, hangs or takes more than 1 GiB" bash "$TOP/bench/accuracy/counts/sweep.sh" "${choice[@]}"

# A static executable cannot be instrumented, but looked at.
echo 'int main(void) { return 0; }' >static.c
gcc -O2 -static -o static static.c
check "a static executable is summarised" pmodel loops --summary static

# At least 99 of 100 indirect jumps in C programs of this Debian.
pmodel loops --summary --format csv "$(command -v bash)" "$(command -v git)" "$(command -v perl)" >jumps.csv
check "99% of the indirect jumps of C programs are resolved" \
    awk -F , 'NR > 1 { all += $10; found += $11 } END { exit !(all > 100 && found >= 0.99 * all) }' jumps.csv
