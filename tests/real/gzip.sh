# gzip, as Debian installs it: compresses text of N bytes.
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/real.bash"

for size in 8192 16384 24576 32768 49152 65536 262144; do
    generate_text $size >text.$size
done
real_program gzip "$(command -v gzip)" 8192,16384,24576,32768,49152,65536 262144 gzip -nc '{PWD}/text.{N}'
