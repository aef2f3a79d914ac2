# Programs set apart from all that is tuned, each from Debian's sources, built with the plugin, and with a size N:
# `. "$bench/lib/apart.bash"` after bench.bash, in a folder with programs/, with `measure` as predict.sh has it.
#
#   lapack  LAPACK's own test of the drivers for symmetric eigenvalues and for singular values (dsyevr, dgesvd and their
#           kin), matrices of order N: Fortran, thousands of loops
#   fftw    FFTW's own bench, which verifies transforms of N complex and of N real numbers: C, long codelets
#   x265    encodes three frames of N x N points: C++, thousands of loops, 19,000 reference groups
# shellcheck shell=bash
apart_names='lapack fftw x265'

apart_fit() {
    case $1 in
    lapack) echo 12 16 20 24 28 32 ;;
    fftw) echo 128 256 512 1024 2048 4096 ;;
    x265) echo 64 80 96 112 128 160 ;;
    esac
}

# source_of PACKAGE: unpacked as sources/PACKAGE.
source_of() (
    TMP=$PWD/sources
    mkdir -p "$TMP" && cd "$TMP" || exit
    [ ! -d "$1" ] || exit 0
    fail() { say "$1"; exit 1; }
    # shellcheck source=tests/real/real.bash
    . "$TOP/tests/real/real.bash"
    debian_source "$1"
)

build_lapack() (
    cd sources/lapack && cp make.inc.example make.inc || exit
    options=(-j2 FFLAGS="$flags" FFLAGS_NOOPT="$flags" FFLAGS_DRV="$flags")
    make -C BLAS/SRC "${options[@]}" double && make -C SRC "${options[@]}" double && make -C TESTING/MATGEN "${options[@]}" double &&
        make -C TESTING/EIG "${options[@]}" xeigtstd && cp TESTING/EIG/xeigtstd ../../programs/lapack
)

# lapack_input N: what its test reads. Blocks of eight columns; all drivers, nothing else.
lapack_input() { printf '%s\n' "SEP of order $1" 1 "$1" 1 8 2 1 50.0 F T F 1 'SEP 21' 'SVD 16'; }

build_fftw() (
    mkdir -p sources/fftw3/build && cd sources/fftw3/build || exit
    ../configure --disable-fortran CFLAGS="$flags" && make -j2 && cp tests/bench ../../../programs/fftw
)

# As its CMakeLists.txt has it for a compiler of x86-64, without assembly.
build_x265() (
    cd sources/x265/source && mkdir -p objects || exit
    sed 's/\${X265_BUILD}/1/' x265_config.h.in >x265_config.h
    defined=(X265_VERSION=Debian X265_NS=x265 X265_DEPTH=8 HIGH_BIT_DEPTH=0 EXPORT_C_API=1 X265_ARCH_X86=1 X86_64=1 HAVE_INT_TYPES_H=1
        HAVE_STRTOK_R _GNU_SOURCE=1 __STDC_LIMIT_MACROS=1)
    export compile="g++ $flags -std=gnu++11 -w -I. -Icommon -Iencoder -Ioutput ${defined[*]/#/-D}"
    printf '%s\n' common/*.cpp encoder/*.cpp input/*.cpp output/*.cpp x265.cpp x265cli.cpp abrEncApp.cpp | grep -v winxp |
        xargs -P2 -I{} sh -c '$compile -c {} -o objects/$(echo {} | tr / _).o' && g++ -g -o ../../../programs/x265 objects/*.o -lpthread -ldl
)

# frames N: three frames of a pattern that moves, with noise; brightness, then two planes of colours.
frames() {
    python3 -c 'if True:
        import sys
        n, seed, out = int(sys.argv[1]), 1, bytearray()
        for frame in range(3):
            for width in (n, n // 2, n // 2):
                for y in range(width):
                    for x in range(width):
                        seed = (seed * 1103515245 + 12345) % 2**31
                        slope = (x + 3 * frame) * (y + frame) * 255 // width**2
                        out.append((slope + 40 * (((x + frame) // 9 + y // 7) % 2) + (seed >> 16) % 9) % 256)
        sys.stdout.buffer.write(out)' "$1"
}

# measure_apart NAME: builds it, makes its input, and measures it.
measure_apart() {
    local flags size package=$1
    flags="$(size_value all flags) $(pmodel flags)"
    [ "$1" != fftw ] || package=fftw3
    source_of "$package" && "build_$1" >"build.$1" 2>&1 || { say "$1 does not build: $(tail -1 "build.$1")"; return 1; }
    mkdir -p input
    for size in $(apart_fit "$1"); do
        case $1 in
        lapack) lapack_input "$size" >"input/lapack.$size" ;;
        x265) frames "$size" >"input/frames.$size" ;;
        esac
    done
    case $1 in
    lapack) measure lapack "$(apart_fit lapack)" --exe programs/lapack -- sh -c 'exec programs/lapack <"input/lapack.$0"' '{N}' ;;
    fftw) measure fftw "$(apart_fit fftw)" -- programs/fftw -oestimate -y '{N}' -y 'r{N}' ;;
    x265)
        measure x265 "$(apart_fit x265)" -- programs/x265 --input 'input/frames.{N}' --input-res '{N}x{N}' --fps 25 --frames 3 \
            --pools none --frame-threads 1 --no-wpp --ctu 32 --no-progress --log-level error -o /dev/null
        ;;
    esac
}
