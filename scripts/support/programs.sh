# The workloads of check-programs. Servers listen on the loopback interface only.

program bash bash '' '' <<'END'
declare -A count
for i in {1..2000}; do count[$((i % 37))]+=x; done
for key in $(printf '%s\n' "${!count[@]}" | sort -n); do echo "$key ${#count[$key]}"; done | md5sum
for i in {1..20}; do (echo "$i" | tr 0-9 a-j); done
END

program coreutils coreutils '' '' <<'END'
seq 1 200000 | sort -R --random-source=<(yes) --parallel=4 -S 4M | sort -n | md5sum
seq 1 5000 | shuf --random-source=<(yes) | tac | nl | cut -f 2 | paste -sd+ | head -c 40
ls -la / >/dev/null; date -u -d @0; df / >/dev/null; stat -c %n /etc/passwd
END

program git git '' '' <<'END'
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q -b main . && for i in {1..30}; do seq "$i" 500 >"f$i"; done
git add . && git commit -q -m one && for i in {1..10}; do seq 2 600 >"f$i"; done
git commit -q -a -m two && git gc -q && git fsck 2>/dev/null && git log --stat && git diff HEAD~ | md5sum
git blame f1 | md5sum
END

program perl perl '' '' <<'END'
PERL_HASH_SEED=0 perl -MData::Dumper -e '
$Data::Dumper::Sortkeys = 1; my %h; $h{$_ % 1000}{$_} = "x" x ($_ % 50) for 1 .. 30000;
print length(Dumper(\%h)), "\n"; my $s = join ",", map { scalar reverse } 1 .. 20000;
my $n = () = $s =~ /(\d)\1/g; print "$n\n"; my $pid = fork; exit 3 unless $pid; waitpid $pid, 0; print $? >> 8, "\n";'
END

program python3 python3 '' '' <<'END'
PYTHONHASHSEED=0 PYTHONMALLOC=malloc /usr/bin/python3 -c '
import json, re, collections, hashlib, threading, subprocess
data = [{"n": i, "s": str(i) * 3, "l": list(range(i % 9))} for i in range(20000)]
text = json.dumps(data); print(len(text), hashlib.md5(text.encode()).hexdigest())
print(len(json.loads(text)), collections.Counter(re.findall(r"\d", text)).most_common(3))
threads = [threading.Thread(target=lambda: sorted(str(i) for i in range(20000))) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(subprocess.run(["echo", "child"], capture_output=True).stdout)'
END

program gcc gcc '' '' <<'END'
cat >a.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void) { char *p = malloc(10); snprintf(p, 10, "compiled"); puts(p); free(p); return 0; }
C
gcc -O2 -Wall -frandom-seed=1 a.c -o a && ./a && md5sum <a
END

program g++ g++ '' '' <<'END'
cat >a.cpp <<'C'
#include <map>
#include <string>
#include <iostream>
#include <regex>
int main() { std::map<std::string, int> m; for (int i = 0; i < 1000; i++) m[std::to_string(i % 77)]++;
  std::cout << m.size() << std::regex_match("abc", std::regex("[a-c]+")) << "\n"; }
C
g++ -O2 -frandom-seed=1 a.cpp -o a && ./a
END

program clang clang '' '' <<'END'
printf 'int f(int n){int s=0;for(int i=0;i<n;i++)s+=i*i;return s;}\nint main(){return f(3)-5;}\n' >a.c
/usr/bin/clang -O2 a.c -o a && ./a && /usr/bin/clang -O2 -S -o - a.c | md5sum
END

program swiftc '' '' '' <<'END'
cat >a.swift <<'S'
final class Node { var next: Node?; init(_ n: Node?) { next = n } }
var list: Node? = nil
for _ in 0..<1000 { list = Node(list) }
print((1...100).map { "\($0)" }.joined(separator: ",").count)
S
swiftc -O a.swift -o a && ./a
END

program make make '' '' <<'END'
printf 'all: $(addprefix o,$(shell seq 1 40))\no%%:\n\t@sleep 0 && echo $* >$@\n' >Makefile
make -s -j4 && cat o* | sort -n | md5sum
END

program cmake 'cmake make gcc' 'times' 's/\([0-9.]+s\)/(T)/' <<'END'
printf 'cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(a a.c)\n' >CMakeLists.txt
echo 'int main(void){return 0;}' >a.c
cmake -S . -B b && cmake --build b -- --no-print-directory && b/a
END

program sqlite3 sqlite3 '' '' <<'END'
sqlite3 a.db 'create table t(a integer primary key, b text);
with recursive c(x) as (values(1) union all select x+1 from c where x<50000) insert into t select x, hex(x*x) from c;
create index i on t(b); select count(*), sum(length(b)) from t; select b from t order by b desc limit 3; pragma integrity_check;'
END

program redis 'redis-server redis-tools' '' '' <<'END'
redis-server --port 17379 --bind 127.0.0.1 --save '' --daemonize no >server.log 2>&1 &
until redis-cli -h 127.0.0.1 -p 17379 ping >/dev/null 2>&1; do sleep 0.1; done
redis-benchmark -h 127.0.0.1 -p 17379 -q -n 20000 -c 20 -t set,lpush,sadd >/dev/null
for i in {1..50}; do redis-cli -h 127.0.0.1 -p 17379 set "k$i" "$i" >/dev/null; done
redis-cli -h 127.0.0.1 -p 17379 llen mylist; redis-cli -h 127.0.0.1 -p 17379 mget k1 k50 k51
redis-cli -h 127.0.0.1 -p 17379 shutdown nosave; wait $!; echo "server $?"
END

program nginx 'nginx-light curl' '' '' <<'END'
mkdir html t && seq 1 50000 >html/a && cat >c <<'C'
daemon off; pid pid; error_log stderr crit; worker_processes 2; events {}
http { access_log off; client_body_temp_path t; proxy_temp_path t/p; fastcgi_temp_path t/f;
uwsgi_temp_path t/u; scgi_temp_path t/s; gzip on; gzip_types *;
server { listen 127.0.0.1:17380; root html; } }
C
/usr/sbin/nginx -p "$PWD" -c c & server=$!
until curl -s -o /dev/null http://127.0.0.1:17380/a; do sleep 0.1; done
for i in {1..20}; do curl -s --compressed http://127.0.0.1:17380/a | md5sum; done
curl -s -o /dev/null -w '%{http_code}\n' http://127.0.0.1:17380/none; kill -QUIT $server; wait $server; echo "server $?"
END

program postgresql 'postgresql postgresql-client util-linux' '' '' <<'END'
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1); as=; ((EUID)) || as='setpriv --reuid postgres --regid postgres --clear-groups'
$as "$bin/initdb" -D data -A trust --locale=C -N >/dev/null || exit
$as "$bin/pg_ctl" -D data -w -s -l log -o "-c listen_addresses='' -k $PWD -c fsync=off" start
$as "$bin/psql" -X -h "$PWD" -d postgres -At <<'SQL'
create table t as select i, md5(i::text) as m from generate_series(1, 20000) i; create index on t(m);
select count(*), min(m), max(m) from t; select sum(length(m)) from t where m < '8'; analyze t;
SQL
$as "$bin/pg_ctl" -D data -w -s stop -m fast; echo "stopped $?"
END

program curl curl '' '' <<'END'
seq 1 100000 >a; curl -s "file://$PWD/a" | md5sum; curl -s -o /dev/null http://127.0.0.1:1/ ; echo $?; curl --version | head -n 1
END

program tar tar '' '' <<'END'
mkdir d && for i in {1..50}; do seq "$i" 2000 >"d/$i"; done
tar --sort=name --mtime=@0 --owner=0 --group=0 -czf a.tgz d && tar -tzf a.tgz | md5sum && tar -xzOf a.tgz | md5sum
END

program xz xz-utils '' '' <<'END'
seq 1 600000 >a; xz -k -T 4 --block-size=500KiB a && md5sum <a.xz && xz -dc -T 4 a.xz | md5sum
END

program zstd zstd '' '' <<'END'
seq 1 600000 >a; zstd -q -T4 -10 a && zstd -q -dc a.zst | md5sum && zstd -q -t a.zst
END

program bzip2 'bzip2 gzip' '' '' <<'END'
seq 1 200000 | bzip2 -9 | tee a.bz2 | md5sum; bzip2 -dc a.bz2 | gzip -9 -n | gzip -dc | md5sum
END

program ffmpeg ffmpeg '' '' <<'END'
ffmpeg -v error -f lavfi -i testsrc=duration=2:size=320x240:rate=25 -f lavfi -i sine=duration=2 -c:v mpeg4 -threads 4 -c:a aac -flags +bitexact -fflags +bitexact -y a.mp4
ffmpeg -v error -i a.mp4 -map 0:v -f framemd5 - | tail -n 3
END

program vim vim '' '' <<'END'
seq 1 5000 >a; vim -N -u NONE -n -i NONE -es -c '%s/1/one/g' -c 'sort!' -c 'g/one/m0' -c 'wq! b' a; md5sum <b
END

program node nodejs '' '' <<'END'
/usr/bin/node -e '
const m = new Map(); for (let i = 0; i < 50000; i++) m.set("k" + i % 999, { i, s: "x".repeat(i % 50) });
console.log(m.size, JSON.stringify([...m]).length); const z = require("zlib");
console.log(z.gunzipSync(z.gzipSync(Buffer.alloc(500000, 7))).length);
require("child_process").exec("echo child", (e, o) => console.log(o)); setTimeout(() => process.exit(0), 500);'
END

program java default-jdk-headless '' '' <<'END'
cat >A.java <<'J'
import java.util.*; import java.util.stream.*;
public class A { public static void main(String[] a) { var m = new TreeMap<String, Integer>();
 for (int i = 0; i < 100000; i++) m.merge("k" + i % 97, 1, Integer::sum);
 System.out.println(m.size() + " " + IntStream.range(0, 1000).parallel().mapToObj(i -> "" + i).collect(Collectors.joining()).length()); } }
J
java -Xmx256m -XX:-UsePerfData A.java
END

program gdb 'gdb gcc' 'process ids, addresses' 's/process [0-9]+/process N/g; s/0x[0-9a-f]+/0xN/g' <<'END'
printf 'int f(int n){return n?f(n-1)+1:0;}\nint main(){return f(3)-3;}\n' >a.c; gcc -g a.c -o a
gdb -q -nx -batch -ex 'break f if n == 1' -ex run -ex bt -ex continue ./a 2>&1 | grep -v -e debuginfod -e libthread_db
END

program ruby ruby '' '' <<'END'
ruby -e 'h = Hash.new(0); 100000.times { |i| h["k#{i % 999}"] += 1 }; puts h.size, h.to_a.sort.flatten.join(",").size
t = 4.times.map { Thread.new { (1..20000).map(&:to_s).sort.size } }; puts t.sum(&:value); puts `echo child`'
END

program php php-cli '' '' <<'END'
USE_ZEND_ALLOC=0 php -n -r '$a=[]; for($i=0;$i<100000;$i++){$a["k".($i%999)][]=str_repeat("x",$i%40);} ksort($a); echo count($a)," ",strlen(serialize($a)),"\n"; echo preg_match_all("/k(\d)\\1/",implode(",",array_keys($a))),"\n";'
END

program lua lua5.4 '' '' <<'END'
lua5.4 -e 'local t = {} for i = 1, 200000 do t[i % 999 + 1] = ("x"):rep(i % 50) .. i end local n = 0 for _, v in ipairs(t) do n = n + #v end print(n, #table.concat(t, ","))'
END

program tcl tcl '' '' <<'END'
echo 'for {set i 0} {$i < 50000} {incr i} {lappend a([expr {$i % 99}]) $i}; puts [array size a]; puts [string length [join [lsort [array get a]]]]' | tclsh
END

program jq jq '' '' <<'END'
seq 1 20000 | jq -s 'map({n: ., s: (.|tostring)}) | group_by(.n % 7) | map(length)' -c
END

program awk gawk '' '' <<'END'
seq 1 200000 | gawk '{ a[$1 % 997] = a[$1 % 997] " " $1 } END { n = asorti(a, k); for (i = 1; i <= 3; i++) print k[i], length(a[k[i]]) }'
END

program sed 'sed grep' '' '' <<'END'
seq 1 100000 | sed -E 's/(.)(.*)/\2\1/; /7$/d' | grep -E '^(1|22|333)+' | md5sum
END

program findutils 'findutils' '' '' <<'END'
find /usr/share/doc -name 'c*' -type f -print0 | sort -z | head -z -n 300 | xargs -0 -n 20 -P 2 cat | wc -c
END

program openssl openssl '' '' <<'END'
seq 1 100000 >a; openssl dgst -sha256 a; openssl enc -aes-256-ctr -K 00 -iv 00 -in a 2>/dev/null | md5sum
openssl req -x509 -newkey rsa:2048 -nodes -keyout k -out c -days 1 -subj /CN=x 2>/dev/null; openssl x509 -in c -noout -subject
END

program imagemagick imagemagick '' '' <<'END'
/usr/bin/convert -size 400x300 plasma:red-blue -seed 1 -blur 0x3 -resize 50% png:a.png; /usr/bin/convert -size 300x300 gradient:red-blue -rotate 30 -depth 8 rgb:- | md5sum
END

program graphviz graphviz '' '' <<'END'
(echo 'digraph g {'; for i in {1..80}; do echo "n$i -> n$((i * 7 % 53)); n$i -> n$((i * 3 % 41));"; done; echo '}') | dot -Tplain | md5sum
END

program libxml2 'libxml2-utils xsltproc' '' '' <<'END'
(echo '<r>'; for i in {1..5000}; do echo "<e n='$i'>text &amp; $i</e>"; done; echo '</r>') >a.xml
xmllint --xpath 'count(//e[@n mod 7 = 0])' a.xml; xmllint --format a.xml | md5sum
END

program bison 'bison flex m4' '' '' <<'END'
printf '%%%%\ns: | s e ;\ne: e "+" e | "n" ;\n' >a.y; bison -Wno-all a.y 2>/dev/null; md5sum <a.tab.c
printf '%%%%\n[a-z]+ puts(yytext);\n%%%%\n' >a.l; flex a.l; grep -c . lex.yy.c
END

program groff groff '' '' <<'END'
zcat /usr/share/man/man1/bash.1.gz 2>/dev/null | groff -man -Tutf8 2>/dev/null | md5sum; printf '.TH A 1\n.SH N\ntext \\fBbold\\fR\n' | groff -man -Tascii
END

program rsync rsync '' '' <<'END'
mkdir a && for i in {1..100}; do seq "$i" 500 >"a/$i"; done; rsync -a a/ b && seq 1 9 >a/5 && rsync -ai --checksum a/ b | cut -c 1-4,13- ; cat b/* | md5sum
END

program dpkg 'dpkg apt' '' '' <<'END'
dpkg -l | wc -l; apt-cache depends bash | md5sum; dpkg-query -W -f '${Version}\n' libc6
END

program bc bc '' '' <<'END'
echo 'scale=300; 4*a(1); for (i=0;i<200;i++) x=x*3+i; x' | bc -l | md5sum
END

program busybox busybox '' '' <<'END'
busybox sh -c 'for i in $(busybox seq 1 300); do echo $i; done | busybox sort -r | busybox md5sum'; seq 1 100000 | busybox awk '{s+=$1} END {print s}'
END
