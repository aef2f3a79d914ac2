# bzip2 from Debian's source, linked with its library and built with the plugin: compresses text of N
# bytes.
# time limit: 900 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/real.bash"

check "the source of bzip2 unpacks" debian_source bzip2 || exit
flags=$(pmodel flags)
build() {
    make -C bzip2 CC="gcc $flags" libbz2.a bzip2.o &&
        gcc -o program bzip2/bzip2.o bzip2/libbz2.a
}
check "bzip2 builds with the flags of pmodel" build || exit
for size in 8000 12000 16000 24000 32000 48000 192000; do
    generate_text $size >text.$size
done
real_program bzip2 ./program 8000,12000,16000,24000,32000,48000 192000 ./program -c '{PWD}/text.{N}'
