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

# The system's bzip2 does its work in a library, which is measured only where that is asked for.
generate_text 4000000 >text.long
pmodel run -q --outside -o system.pmdb --block 64,4096 -- bzip2 -c text.long >/dev/null
pmodel report system.pmdb -m icelake-sp --format json >system.json
check "the report of the system's bzip2 says that its time is in libbz2" jq -e \
    '.warnings[] | select(.kind == "outside") | .share > 0.9 and (.text | contains("--lib libbz2"))' \
    system.json
pmodel run -q -o whole.pmdb --block 64,4096 --lib libbz2 -- bzip2 -c text.long >/dev/null
check "with the library nothing is missing" sh -c \
    "pmodel report whole.pmdb -m icelake-sp --format json | jq -e '.warnings == []'"
