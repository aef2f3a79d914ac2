# Programs that people run every day, as Debian installs them, each with input and a command that takes a tenth of
# a second plainly: `. "$TOP/tests/real/everyday.bash"`. To add one, add a function `choose_NAME`, where a character
# that no name may have is `_`, and its name to a list below. It makes the input in the current folder, $here, and
# sets what programs.bash says: program, libraries, recorded, user, command. `shell TEXT` is a command of several, with $program, $here
# and $libraries in its environment; it runs in a folder of its own.
# shellcheck shell=bash disable=SC2034,SC2016 # the variables are for who calls, or for the shell that the command is
everyday_interpreters="lua5.4 luajit ocamlrun tclsh8.6 jq"
everyday_tools="zstd 7z openssl git tar find sort"
everyday_documents="dot gnuplot gs R ffmpeg"
everyday_servers="redis-server nginx postgres"
everyday_compilers="clang"
everyday_programs="$everyday_interpreters $everyday_tools $everyday_documents $everyday_servers $everyday_compilers"

shell() {
    printf '%s\n' 'set -u' "program='$program' here='$here'" "$1" >"$here/command.sh"
    command=(bash "$here/command.sh")
}

# ---- interpreters -----------------------------------------------------------------------------

# Tables, strings, closures, coroutines, errors, metatables; a loop hot enough for a compiler just in time.
lua_script() {
    cat <<'L'
local n, words, count = tonumber(arg[1]), {}, {}
local state = 1
for i = 1, n do
    state = (state * 16807) % 2147483647
    words[i] = string.format("%s-%05d", string.char(97 + state % 26), state % 100000)
    local key = words[i]:sub(1, 3)
    count[key] = (count[key] or 0) + 1
end
table.sort(words, function(a, b) return a > b end)
local generator = coroutine.wrap(function()
    for i, word in ipairs(words) do if word:match("^[a-m]%-0*[1-9]%d*5$") then coroutine.yield(i, word) end end
end)
local sum = 0
for i, word in generator do sum = (sum * 31 + i + #word) % 1000003 end
local point = setmetatable({}, {__add = function(_, b) return b + 1 end, __index = function(_, k) return #k end})
for i = 1, n do sum = (sum + (point + i) + point.abc) % 1000003 end
local caught = 0
for i = 1, n / 10 do
    local ok, what = pcall(function() if i % 2 == 0 then error({code = i}) else return i .. nil end end)
    if not ok and type(what) == "table" then caught = caught + what.code else caught = caught + 1 end
end
local grid = {}
for i = 1, n do grid[i] = i * 0.5 end
for _ = 1, 20 do for i = 2, n - 1 do grid[i] = (grid[i - 1] + grid[i] + grid[i + 1]) / 3 end end
local function fib(k) if k < 2 then return k end return fib(k - 1) + fib(k - 2) end
local keys = {}
for key in pairs(count) do keys[#keys + 1] = key end
print(#keys, sum, caught, string.format("%.6f", grid[n // 2 or 1]), fib(16), select("#", table.unpack({1, 2, 3})))
L
}

choose_lua() { # PROGRAM
    program=$(realpath -e "/usr/bin/$1")
    lua_script >script.lua
    command=("$program" "$here/script.lua" 2000)
}
choose_lua5_4() { choose_lua lua5.4; }
choose_luajit() {
    choose_lua luajit
    sed -i 's|n // 2|math.floor(n / 2)|; s/table.unpack/unpack/' script.lua
    # What its compiler takes over differs by 3% from run to run: what is to be counted runs without it.
    [ "$scale" != short ] || command=("$program" -joff "${command[@]:1}")
}

choose_ocamlrun() {
    program=$(realpath -e /usr/bin/ocamlrun)
    cat >script.ml <<'O'
module M = Map.Make (String)
exception Found of int
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let () =
  let words = List.init 3000 (fun i -> Printf.sprintf "w%d" (i * 7919 mod 1009)) in
  let count = List.fold_left (fun m w -> M.update w (function None -> Some 1 | Some k -> Some (k + 1)) m) M.empty words in
  let a = Array.init 2000 (fun i -> float_of_int (i * 37 mod 101)) in
  Array.sort compare a;
  let sum = Array.fold_left ( +. ) 0. a in
  let found = try M.iter (fun _ k -> if k > 2 then raise (Found k)) count; 0 with Found k -> k in
  Printf.printf "%d %.2f %d %d %s\n" (M.cardinal count) sum found (fib 17) (String.concat "," (List.filteri (fun i _ -> i < 5) words))
O
    command=("$program" /usr/bin/ocaml "$here/script.ml")
}

choose_tclsh8_6() {
    program=$(realpath -e /usr/bin/tclsh8.6)
    libraries=(libtcl8.6)
    cat >script.tcl <<'T'
proc fib n { if {$n < 2} { return $n }; expr {[fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]} }
set state 1
for {set i 0} {$i < 2000} {incr i} {
    set state [expr {($state * 16807) % 2147483647}]
    lappend list [format %s-%05d [string index abcdefghij [expr {$state % 10}]] [expr {$state % 100000}]]
    dict incr count [string range [lindex $list end] 0 2]
}
set sorted [lsort -decreasing $list]
set matched [llength [lsearch -all -regexp $sorted {^[a-e]-0*[1-9]\d*5$}]]
set text [regsub -all {(\d)-?} [join $sorted ,] {<\1>}]
catch { error broken } message
puts "[dict size $count] $matched [string length $text] [fib 14] $message [expr {sqrt(2) ** 3}]"
T
    command=("$program" "$here/script.tcl")
}

choose_jq() {
    program=$(realpath -e /usr/bin/jq)
    libraries=(libjq libonig)
    awk 'BEGIN { for (i = 0; i < 600; i++) printf "{\"id\": %d, \"name\": \"item %d\", \"tags\": [\"a%d\", \"b\"], \"price\": %.2f}\n",
        i, i * 7919 % 1009, i % 7, i / 8 }' >items.json
    shell '"$program" -s "group_by(.tags[0]) | map({tag: .[0].tags[0], n: length, sum: (map(.price) | add)})" "$here/items.json"
        "$program" -c "select(.name | test(\"[0-9]5$\")) | .name |= ascii_upcase" "$here/items.json"
        echo "{" | "$program" . 2>&1; echo $?'
}

# ---- tools ------------------------------------------------------------------------------------

choose_zstd() {
    program=$(realpath -e /usr/bin/zstd)
    generate_text 300000 >text
    shell '"$program" -q -T2 -B64K -9 "$here/text" -o packed.zst
        "$program" -q -d packed.zst -o text; cmp text "$here/text"
        "$program" -q --train "$here"/items/* -o dictionary
        head -c 5000 packed.zst >damaged.zst; "$program" -q -t damaged.zst; echo $?; "$program" -q --ultra -22 -c text | cksum'
    mkdir items
    (cd items && split -b 500 ../text)
}

choose_7z() {
    program=$(realpath -e /usr/lib/p7zip/7z)
    libraries=(/usr/lib/p7zip/7z.so)
    mkdir input
    generate_text 80000 >input/text
    head -c 60000 "$(command -v mawk)" >input/code
    touch -d 2020-01-01 input/text input/code input
    shell '"$program" a -bd -mmt=2 packed.7z "$here/input" | grep -v -e CPU -e ^p7zip
        "$program" a -bd -tzip packed.zip "$here/input" >/dev/null; "$program" l packed.zip | tail -n 4
        "$program" x -bd -oout packed.7z | tail -n 5; diff -r out/input "$here/input"
        head -c 5000 packed.7z >damaged.7z; "$program" t damaged.7z >/dev/null 2>&1; echo $?'
}

choose_openssl() {
    program=$(realpath -e /usr/bin/openssl)
    libraries=(libcrypto libssl)
    generate_text 100000 >text
    "$program" genrsa -out key 2048 2>/dev/null
    # Which code it takes for a processor is not to depend on whether valgrind is the processor.
    shell 'export OPENSSL_ia32cap=0x0:0x0 key=000102030405060708090a0b0c0d0e0f
        for digest in md5 sha1 sha256 sha512 sha3-256 blake2b512; do "$program" dgst -$digest "$here/text"; done
        for cipher in aes-128-cbc aes-128-ctr chacha20 camellia-128-cbc des-ede3-cbc; do
            "$program" enc -$cipher -K $key$key -iv $key -in "$here/text" 2>/dev/null | cksum
        done
        "$program" dgst -sha256 -sign "$here/key" -out signature "$here/text"
        "$program" rsa -in "$here/key" -pubout -out public 2>/dev/null
        "$program" dgst -sha256 -verify public -signature signature "$here/text"
        "$program" prime 1000003; "$program" x509 -in "$here/text" 2>/dev/null; echo $?'
}

choose_git() {
    program=$(realpath -e /usr/bin/git)
    libraries=(libz)
    mkdir files
    for i in 1 2 3 4 5 6 7 8; do generate_text $((i * 900)) >files/$i; done
    shell 'export GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z HOME=$here
        export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
        "$program" init -q -b main tree && cd tree && cp "$here"/files/* . && "$program" add . && "$program" commit -qm first
        "$program" checkout -qb other; sed -i s/a/b/ 3; tail -n 20 8 >>5; "$program" commit -qam second
        "$program" checkout -q main; sed -i s/e/f/ 7; "$program" commit -qam third; "$program" merge -q -m merged other
        "$program" log --stat --format="%h %s"; "$program" blame 5 | tail -n 3; "$program" diff HEAD~1 | cksum
        "$program" grep -c aa | tail -n 3; "$program" -c pack.threads=1 gc -q; "$program" fsck; "$program" status --short
        "$program" show nothing; echo $?; cd .. && rm -rf tree'
}

choose_tar() {
    program=$(realpath -e /usr/bin/tar)
    mkdir tree
    for i in $(seq 1 200); do
        mkdir -p "tree/$((i % 7))"
        echo "$i" >"tree/$((i % 7))/file-$i-$(printf '%0120d' "$i")"
    done
    generate_text 100000 >tree/text
    touch -d 2020-01-01 tree/*/* tree/text tree/?
    shell 'for format in gnu ustar v7; do
            "$program" --sort=name --owner=0 --group=0 --mtime=@0 --format=$format -cf $format.tar -C "$here" tree 2>&1
            "$program" -tvf $format.tar --utc | tail -n 3; cksum $format.tar
        done
        mkdir out; "$program" -xf ustar.tar -C out; diff -r out/tree "$here/tree"; rm -rf out
        head -c 20000 gnu.tar | "$program" -t >/dev/null; echo $?'
}

choose_find() {
    program=$(realpath -e /usr/bin/find)
    shell 'cd /usr/share/doc; "$program" . -maxdepth 2 -name "*.gz" -size +4k -printf "%p %s %m\n" | sort | cksum
        "$program" . -maxdepth 1 -type d \( -name "lib*" -o -regex ".*/g[a-m].*" \) -newermt 2000-01-01 | sort | cksum
        "$program" /usr/bin -maxdepth 1 -type l -exec true {} +; "$program" /nothing; echo $?'
}

choose_sort() {
    program=$(realpath -e /usr/bin/sort)
    awk 'BEGIN { srand(3); for (i = 0; i < 150000; i++) printf "%d %c%d\n", rand() * 1000000, 97 + i % 26, i }' >numbers
    shell '"$program" --parallel=4 -S 4M "$here/numbers" | cksum; "$program" --parallel=2 -k1,1n -k2,2r "$here/numbers" | cksum
        "$program" -m "$here/numbers" "$here/numbers" | "$program" -u -t" " -k2.1,2.2 ; "$program" -c "$here/numbers"; echo $?'
}

# ---- documents, figures, films ----------------------------------------------------------------

choose_dot() {
    program=$(realpath -e /usr/bin/dot)
    libraries=(libgvc libcgraph libcdt libexpat /usr/lib/x86_64-linux-gnu/graphviz/libgvplugin_dot_layout.so.6
        /usr/lib/x86_64-linux-gnu/graphviz/libgvplugin_core.so.6 /usr/lib/x86_64-linux-gnu/graphviz/libgvplugin_neato_layout.so.6)
    awk 'BEGIN { print "digraph g { node [shape=record];"
        for (i = 1; i < 60; i++) printf "n%d -> n%d [label=\"%d\"]; n%d -> n%d;\n", int(i / 2), i, i, i * 7 % 60, i
        print "}" }' >graph.dot
    shell 'for kind in "dot -Tplain" "dot -Tsvg" "neato -Tplain" "circo -Tdot"; do set -- $kind; /usr/bin/dot -K$1 $2 "$here/graph.dot" 2>&1; done'
}

choose_gnuplot() {
    program=$(realpath -e /usr/bin/gnuplot)
    shell '"$program" <<\G
set terminal svg
set output "plot.svg"
set isosamples 30
splot sin(x) * cos(y) with pm3d
set output "fit.svg"
f(x) = a * exp(-b * x) + c
a = 1; b = 0.5; c = 0.1
set samples 50
set table $data
plot [0:5] 3 * exp(-0.7 * x) + 0.2 + 0.01 * sin(37 * x)
unset table
set fit quiet nolog
fit f(x) $data using 1:2 via a, b, c
print sprintf("%.4f %.4f %.4f", a, b, c)
plot $data with lines smooth csplines, f(x)
set terminal dumb
unset output
plot sin(x) / x
G'
}

choose_gs() {
    program=$(realpath -e /usr/bin/gs)
    libraries=(libgs)
    cat >page.ps <<'P'
%!PS
/fib { dup 1 gt { dup 1 sub fib exch 2 sub fib add } if } def
/Times-Roman findfont 24 scalefont setfont
72 700 moveto (Sum of ) show 15 fib 20 string cvs show
0 1 40 { /i exch def gsave 300 400 translate i 9 mul rotate i 40 div 0.5 1 sethsbcolor
    0 0 moveto 200 0 lineto 150 30 100 90 20 i curveto closepath fill grestore } for
[/Pattern] pop 100 100 moveto 400 0 rlineto 10 setlinewidth [20 5] 0 setdash stroke
showpage
P
    command=("$program" -q -dNOPAUSE -dBATCH -dSAFER -sDEVICE=ppmraw -r40 -sOutputFile=page.ppm "$here/page.ps")
}

choose_R() {
    program=$(realpath -e /usr/lib/R/bin/exec/R)
    libraries=(libR libblas)
    cat >script.R <<'R'
set.seed(7)
x <- seq(0, 10, length.out = 200)
y <- 3 * exp(-0.5 * x) + 0.01 * sin(50 * x)
print(round(coef(nls(y ~ a * exp(-b * x), start = list(a = 1, b = 1))), 6))
print(summary(lm(y ~ poly(x, 3)))$r.squared)
m <- matrix(1 / (outer(1:40, 1:40, "+") - 1), 40) + diag(40)
print(round(sum(solve(m)), 6)); print(round(sum(svd(m)$d), 6))
words <- sprintf("%s%d", sample(letters, 500, TRUE), sample(99, 500, TRUE))
print(head(sort(table(sub("[0-9]+", "", words)), decreasing = TRUE), 3))
r <- tryCatch(stop("broken"), error = function(e) conditionMessage(e), finally = cat("done\n"))
f <- function(n) if (n < 2) n else f(n - 1) + f(n - 2)
cat(r, f(15), length(unique(words)), "\n")
R
    shell 'export R_HOME=/usr/lib/R LD_LIBRARY_PATH=/usr/lib/R/lib TZ=UTC; "$program" --vanilla --no-echo -f "$here/script.R"'
}

choose_ffmpeg() {
    program=$(realpath -e /usr/bin/ffmpeg)
    libraries=(libavcodec libavutil libavformat libavfilter libswscale libswresample)
    # Its assembler code has neither symbols nor unwinding information: what is to be counted runs without it.
    shell "flags='$([ "$scale" = short ] && echo -cpuflags 0)'"'
        run() { "$program" -hide_banner $flags -v error -bitexact "$@" 2>&1; }
        source="testsrc=size=128x96:rate=8:duration=1"
        run -f lavfi -i $source -threads 2 -c:v mpeg4 -flags +bitexact -fflags +bitexact -y film.avi
        run -i film.avi -vf scale=96x64,hflip -pix_fmt rgb24 -f framemd5 -
        run -f lavfi -i sine=duration=1 -c:a aac -flags +bitexact -f framemd5 -
        run -i "$here/command.sh" -f null -; echo $?'
}

# ---- servers ----------------------------------------------------------------------------------

choose_redis_server() {
    program=$(realpath -e /usr/bin/redis-server)
    libraries=(libjemalloc)
    shell 'socket=$PWD/socket
        /usr/bin/redis-server --port 0 --unixsocket "$socket" --save "" --appendonly no --io-threads 2 --daemonize no >log &
        server=$!; client="redis-cli -s $socket"
        until $client ping >/dev/null 2>&1; do sleep 0.05; done
        redis-benchmark -s "$socket" -n 200 -c 5 -t set,get,incr,lpush,zadd,mset -q >/dev/null
        $client flushall; for i in 1 2 3 4 5; do $client rpush list $((i * 7 % 5)) >/dev/null; $client zadd set $i m$i >/dev/null; done
        $client sort list; $client zrange set 1 3; $client eval "return redis.call(\"incrby\", KEYS[1], 5)" 1 key
        $client shutdown nosave; wait $server; echo $?; rm -f log "$socket"'
}

choose_nginx() {
    program=$(realpath -e /usr/sbin/nginx)
    libraries=(libpcre2-8 libz libcrypto libssl)
    generate_text 20000 >text
    shell 'mkdir logs; cat >conf <<C
user root;
worker_processes 1;
pid $PWD/pid;
error_log $PWD/logs/error;
events { worker_connections 64; }
http {
    access_log off;
    gzip on; gzip_types text/plain; default_type text/plain;
    client_body_temp_path $PWD/logs; proxy_temp_path $PWD/logs; fastcgi_temp_path $PWD/logs; uwsgi_temp_path $PWD/logs; scgi_temp_path $PWD/logs;
    server { listen unix:$PWD/socket; root $here; location ~ ^/re/(.*)$ { return 200 "\$1\n"; } location / { autoindex off; } }
}
C
        "$program" -c "$PWD/conf" -p "$PWD" -g "daemon off;" &
        server=$!; get() { curl -s --unix-socket "$PWD/socket" "$@"; }
        until [ -S socket ]; do sleep 0.05; done
        for i in 1 2 3 4 5 6 7 8; do get http://x/text | cksum; get --compressed http://x/text | cksum; get http://x/re/abc$i; done
        get -o /dev/null -w "%{http_code}\n" http://x/nothing; get -r 5-60 http://x/text
        kill -QUIT $server; wait $server; echo $?; rm -rf logs conf socket'
}

# Refuses root.
choose_postgres() {
    program=$(realpath -e /usr/lib/postgresql/15/bin/postgres)
    user=nobody
    shell 'bin=/usr/lib/postgresql/15/bin; export TZ=UTC PGTZ=UTC PGHOST=$PWD
        $bin/initdb -D data -A trust -U owner --no-sync >/dev/null || exit
        echo "log_min_messages = fatal" >>data/postgresql.conf
        "$program" -D data -k "$PWD" -c listen_addresses= -c fsync=off -c autovacuum=off >log 2>&1 &
        server=$!; until $bin/pg_isready -q; do sleep 0.1; done
        $bin/pgbench -i -q -U owner postgres >/dev/null 2>&1; $bin/pgbench -U owner -t 20 -c 2 postgres >/dev/null 2>&1
        $bin/psql -U owner -At postgres -c "select count(*), sum(bid) from pgbench_accounts" -c "select count(*) from pgbench_history" \
            -c "select n, n * n, md5(n::text) from generate_series(1, 5) n where n::text ~ \$\$[1-4]\$\$" -c "select 1 / 0"
        kill -INT $server; wait $server; echo $?; rm -rf data log'
}

# ---- compilers --------------------------------------------------------------------------------

choose_clang() {
    program=$(realpath -e /usr/lib/llvm-14/bin/clang)
    libraries=(libLLVM-14 libclang-cpp)
    recorded=(libclang-cpp) # both have more references than a process has room for
    command=("$program" -O2 -S -o heat.s "$TOP/bench/apps/heat/heat.c")
}
