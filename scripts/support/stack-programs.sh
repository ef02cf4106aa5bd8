# Workloads of check-stacks beside those of check-programs: many events, deep and strange stacks.

program python3-long python3 <<'END'
cat >a.py <<'P'
import collections, json, re, threading
def tree(n): return [] if n == 0 else [tree(n - 1), {"depth": n, "name": str(n) * 3}, tree(n - 1)]
def walk(t): return 0 if not t else walk(t[0]) + t[1]["depth"] + walk(t[2])
for _ in range(6): print(walk(tree(14)), len(json.dumps(json.loads(json.dumps(tree(11))))))
def fail(n):
    if n == 0: raise ValueError("deep")
    try: fail(n - 1)
    except KeyError: pass
for i in range(3000):
    try: fail(i % 60)
    except ValueError: pass
ts = [threading.Thread(target=lambda: sorted(re.sub("1", "one", str(i)) for i in range(60000))) for _ in range(4)]
[t.start() for t in ts]; [t.join() for t in ts]
print(collections.Counter(str(i)[:2] for i in range(400000)).most_common(2))
P
PYTHONHASHSEED=0 PYTHONMALLOC=malloc /usr/bin/python3 a.py
END

program sqlite3-long sqlite3 <<'END'
sqlite3 a.db 'pragma cache_size = 200; create table t(a integer primary key, b text);
with recursive c(x) as (values(1) union all select x+1 from c where x<600000) insert into t select x, hex(x*x) from c;
create index i on t(b); select count(*), sum(length(b)), sum(length(upper(b) || a)) from t;
select count(*) from t a join t b on a.b = b.b; select group_concat(printf("%d:%s", a, b)) from t where a < 1000;'
END

program cc1plus g++ <<'END'
cat >a.cpp <<'C'
#include <algorithm>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
template <int N> struct T { std::map<int, std::vector<T<N - 1>>> m; auto f() { T<N - 1> t; m[N].push_back(t); return m.size() + t.f(); } };
template <> struct T<0> { size_t f() { return 1; } };
int main() { T<20> t; std::regex r("[a-c]+(x|y)*"); std::variant<int, std::string> v = "a";
  std::unordered_map<std::string, std::function<int(int)>> f{{"a", [](int i) { return i; }}};
  return (int)t.f() + std::regex_match("abc", r) + f["a"](std::async([] { return 1; }).get()); }
C
g++ -O2 -std=c++17 -c a.cpp && g++ -O0 -g -std=c++17 -c a.cpp
END

program exceptions g++ <<'END'
cat >a.cpp <<'C'
#include <iostream>
#include <list>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
struct Guard { std::string *s; Guard(int n) : s(new std::string(n % 40, 'x')) {} ~Guard() { delete s; } };
int fall(int n) { Guard g(n); if (n == 0) throw std::runtime_error(std::string(30, 'y')); return fall(n - 1) + 1; }
int catcher(int n) { try { return fall(n); } catch (const std::logic_error &) { return 0; } catch (const std::exception &e) {
    if (n % 5 == 0) { try { throw; } catch (...) { return 1; } } return (int)std::string(e.what()).size(); } }
void work(int turns) { long sum = 0; std::map<int, std::list<std::string>> m;
  for (int i = 0; i < turns; i++) { sum += catcher(i % 37); m[i % 97].push_back(std::to_string(i)); if (i % 11 == 0) m.erase(i % 97); }
  std::cout << sum << "\n"; }
int main() { std::thread a(work, 30000), b(work, 30000); work(30000); a.join(); b.join(); }
C
g++ -O2 a.cpp -o a -pthread && ./a
END

program boost 'libboost-context-dev g++' <<'END'
cat >a.cpp <<'C'
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
namespace ctx = boost::context;
long sum;
int deep(int n) { std::string s(n % 50 + 20, 'x'); if (n == 0) { if (sum % 7 == 0) throw std::runtime_error(s); return 1; } return deep(n - 1) + (int)s.size(); }
ctx::fiber start(int n) { auto body = [n](ctx::fiber &&back) {
    for (int i = 0; i < 40; i++) { try { sum += deep((n + i) % 90); } catch (const std::exception &e) { sum += std::string(e.what()).size(); } back = std::move(back).resume(); }
    return std::move(back); };
  return n % 2 ? ctx::fiber(std::allocator_arg, ctx::protected_fixedsize_stack(65536 + n % 5 * 16384), body) : ctx::fiber(body); }
int main() { for (int turn = 0; turn < 12; turn++) { std::vector<ctx::fiber> fibers; for (int n = 0; n < 60; n++) fibers.push_back(start(n + turn));
    for (int i = 0; i < 41; i++) for (auto &f : fibers) if (f) { f = std::move(f).resume(); delete new int(i); } }
  std::cout << sum << "\n"; }
C
g++ -O2 a.cpp -o a -lboost_context && ./a
END

program swift '' <<'END'
cat >a.swift <<'S'
struct Failure: Error { var depth: Int }
final class Node { var children: [Node] = []; let name: String; init(_ name: String) { self.name = name } }
func build(_ depth: Int) -> Node { let n = Node("node \(depth) of the tree"); if depth > 0 { n.children = [build(depth - 1), build(depth - 1)] }; return n }
func count(_ n: Node) -> Int { n.children.reduce(1) { $0 + count($1) } }
func fall(_ n: Int) throws -> [Int] { if n == 0 { throw Failure(depth: n) }; return try fall(n - 1) + [n] }
func work(_ seed: Int) async -> Int {
  var sum = 0
  for i in 0..<2000 { do { sum += try fall((i + seed) % 40).count } catch { sum += "\(error)".count }
    if i % 50 == 0 { await Task.yield(); sum += count(build(8)) } }
  return sum
}
@main struct Main { static func main() async {
  let total = await withTaskGroup(of: Int.self) { group in
    for seed in 0..<24 { group.addTask { await work(seed) } }
    var total = 0; for await sum in group { total += sum }; return total }
  var words: [String: [Int]] = [:]; for i in 0..<200_000 { words["word number \(i % 999)", default: []].append(i) }
  print(total, words.count, words.values.map { $0.map(String.init).joined() }.reduce(0) { $0 + $1.count }) } }
S
swiftc -O -parse-as-library a.swift -o a && ./a
END

program node-long nodejs <<'END'
cat >a.js <<'J'
const zlib = require("zlib"), crypto = require("crypto"), fs = require("fs");
function deep(n) { return n ? deep(n - 1) + 1 : Buffer.allocUnsafeSlow(9000).length + crypto.createHash("md5").update("x").digest().length; }
class A { constructor(i) { this.i = i; } get v() { return zlib.deflateSync(Buffer.from("a".repeat(this.i % 99))).length; } }
let sum = 0; for (let i = 0; i < 60000; i++) { sum += deep(i % 40); sum += new A(i).v; if (i % 100 == 0) try { JSON.parse("{" + i); } catch (e) { sum += e.stack.length; } }
for (let i = 0; i < 20; i++) sum += new Function("a", `return a.map(x => x * ${i}).filter(x => x % 3).length`)([...Array(5000).keys()]);
const m = new Map(); for (let i = 0; i < 300000; i++) m.set("k" + i % 9999, { i, s: "x".repeat(i % 50), r: /a+b/.test("aab" + i) });
const a = async n => { for (let i = 0; i < n; i++) { await null; sum += fs.readFileSync("a.js").length + (await fs.promises.readFile("a.js")).length; } };
Promise.all([a(3000), a(3000)]).then(() => { console.log(sum > 0, JSON.stringify([...m]).length > 0); gc_(); });
function gc_() { const w = new (require("worker_threads").Worker)("let s=0;for(let i=0;i<9e5;i++)s+=String(i).length;require('worker_threads').parentPort.postMessage(s)", { eval: true }); w.on("message", s => console.log(s)); }
J
/usr/bin/node a.js
END

program luajit 'libluajit-5.1-dev gcc' <<'END'
cat >a.c <<'C'
#include <luajit-2.1/lauxlib.h>
#include <luajit-2.1/lualib.h>
#include <stdio.h>
int main(void) { lua_State *l = luaL_newstate(); luaL_openlibs(l); if (luaL_dofile(l, "a.lua")) puts(lua_tostring(l, -1)); lua_close(l); return 0; }
C
cat >a.lua <<'L'
local ffi = require 'ffi'; local C = ffi.C
ffi.cdef 'void *malloc(size_t); void free(void*); void qsort(void *, size_t, size_t, int (*)(const int *, const int *));'
local function f(n) local s = 0 for i = 1, n do local p = C.malloc(i % 100 + 1); C.free(p); s = s + i end return s end
local function deep(n) if n == 0 then return f(50) end return 1 + deep(n - 1) end
print(f(1000000)); for i = 1, 2000 do deep(i % 50) end
local co = coroutine.wrap(function() for i = 1, 200 do coroutine.yield(f(1000)) end end) for i = 1, 200 do co() end
local a = ffi.new('int[1000]'); for i = 0, 999 do a[i] = i * 7919 % 1000 end
ffi.C.qsort(a, 1000, 4, function(x, y) C.free(C.malloc(24)); return x[0] - y[0] end); print(a[1], a[999])
for i = 1, 100000 do local ok = pcall(function() local p = ffi.gc(C.malloc(9), C.free); if i % 9 == 0 then error 'x' end end) end
L
gcc a.c -o a -lluajit-5.1 && ./a
END

program java-long default-jdk-headless <<'END'
cat >A.java <<'J'
import java.util.*; import java.util.stream.*; import java.util.zip.*; import java.nio.*;
public class A { static int deep(int n) { return n == 0 ? squeeze() : deep(n - 1) + 1; }
 static int squeeze() { var d = new Deflater(); d.setInput(new byte[3000]); d.finish(); int n = d.deflate(new byte[4000]); d.end(); return n; }
 public static void main(String[] a) throws Exception { long sum = 0;
  for (int i = 0; i < 30000; i++) sum += deep(i % 60);
  for (int i = 0; i < 3000; i++) try { Object o = ByteBuffer.allocateDirect(100 + i); if (i % 7 == 0) throw new Exception("x" + o); } catch (Exception e) { sum += e.getStackTrace().length; }
  sum += IntStream.range(0, 20000).parallel().map(i -> i % 100 == 0 ? squeeze() : i).asLongStream().sum();
  for (int i = 0; i < 100; i++) { var t = new Thread(() -> deep(200)); t.start(); t.join(); }
  System.out.println(sum > 0); } }
J
java -Xmx256m -XX:-UsePerfData A.java && java -Xmx256m -Xint -XX:-UsePerfData A.java && java -Xmx256m -XX:TieredStopAtLevel=1 -XX:-UsePerfData A.java
END

program php-long php-cli <<'END'
cat >a.php <<'P'
<?php
function tree($n) { return $n ? ["l" => tree($n - 1), "s" => str_repeat("x", $n), "r" => tree($n - 1)] : []; }
function walk($t) { return $t ? walk($t["l"]) + strlen($t["s"]) + walk($t["r"]) : 0; }
for ($i = 0; $i < 12; $i++) echo walk(tree(14)), " ", strlen(json_encode(tree(10))), "\n";
$a = []; for ($i = 0; $i < 400000; $i++) { $a["k" . ($i % 999)][] = str_repeat("x", $i % 40) . $i; } ksort($a);
usort($a, fn($x, $y) => strcmp(implode($x), implode($y))); echo strlen(serialize($a)), "\n";
function gen($n) { for ($i = 0; $i < $n; $i++) { try { if ($i % 5 == 0) throw new Exception("x$i"); yield "v$i"; } catch (Exception $e) { yield $e->getMessage(); } } }
foreach (gen(200000) as $v) $n = ($n ?? 0) + strlen($v); echo $n, "\n";
P
for jit in off tracing function; do USE_ZEND_ALLOC=0 php -d zend_extension=opcache -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=$jit a.php; done
END

program perl-long perl <<'END'
PERL_HASH_SEED=0 perl -e 'sub t { my $n = shift; $n ? [t($n - 1), {n => $n, s => "x" x $n}, t($n - 1)] : [] }
sub w { my $t = shift; @$t ? w($t->[0]) + length($t->[1]{s}) + w($t->[2]) : 0 } print w(t(14)), "\n" for 1 .. 5;
for my $i (1 .. 200000) { eval { die {code => $i} if $i % 3 == 0; my @a = map { "$_$i" } 1 .. 5; 1 } }
my %h; $h{$_ % 5000} .= "y" for 1 .. 400000; print join(",", sort keys %h) =~ tr/1//, "\n"; my @s = sort { $a cmp $b } map { scalar reverse "$_" } 1 .. 100000; print "$s[5]\n"'
END

program lua-long lua5.4 <<'END'
lua5.4 -e 'local function t(n) if n == 0 then return {} end return {t(n - 1), ("x"):rep(n) .. n, t(n - 1)} end
local function w(x) return x[1] and w(x[1]) + #x[2] + w(x[3]) or 0 end for i = 1, 6 do print(w(t(15))) end
for i = 1, 100000 do pcall(function() local s = {} for j = 1, 5 do s[j] = j .. "," .. i end if i % 4 == 0 then error(s) end end) end
for i = 1, 20000 do local c = coroutine.wrap(function(a) local b = coroutine.yield(a .. "x") return b .. "y" end) c("a") c("b") end'
END

program ruby-long ruby <<'END'
ruby -e 'def t(n) = n == 0 ? [] : [t(n - 1), {n: n, s: "x" * (30 + n)}, t(n - 1)]
def w(t) = t.empty? ? 0 : w(t[0]) + t[1][:s].size + w(t[2])
4.times { puts w(t(14)) }; f = Fiber.new { 100000.times { |i| Fiber.yield "value #{i} of the fiber, and more" } }; 100000.times { f.resume.size }
200000.times { |i| begin; raise "x" * 60 if i % 4 == 0; (1..3).map { |j| "#{i} #{j} is a long enough string" }; rescue; end }
puts 4.times.map { Thread.new { (1..100000).map { |i| "thread string #{i} for the heap" }.sort.size } }.sum(&:value)'
END

program jq-long jq <<'END'
seq 1 60000 | jq -s 'map({n: ., s: (. | tostring), l: [range(. % 7)]}) | group_by(.n % 7) | map(map(.s | ascii_downcase | test("1+2")) | length)' -c
jq -n '[range(300000) | {a: ., b: "x\(.)"}] | map(try (if .a % 3 == 0 then error(.b) else .b end) catch .) | length'
END

program gawk-long gawk <<'END'
seq 1 400000 | gawk 'function f(n, s) { return n ? f(n - 1, s n) : length(s) } { a[$1 % 997] = a[$1 % 997] " " $1; split($1 "," $1 ",x", b, ","); gsub(/1/, "one", b[1]); x += length(b[1]) + f($1 % 20, "s") }
END { n = asorti(a, k); print n, x; for (i = 1; i <= 3; i++) print k[i], length(a[k[i]]) }' | md5sum
END

program tcl-long tcl <<'END'
echo 'proc t n {if {$n == 0} {return {}}; return [list [t [expr {$n - 1}]] [string repeat x $n] [t [expr {$n - 1}]]]}; for {set i 0} {$i < 8} {incr i} {puts [string length [t 13]]}
for {set i 0} {$i < 200000} {incr i} {lappend a([expr {$i % 99}]) $i; catch {if {$i % 3 == 0} {error "e$i"}}}; puts [array size a]' | tclsh
END

program redis-long 'redis-server redis-tools' <<'END'
redis-server --port 17381 --bind 127.0.0.1 --save '' --daemonize no >server.log 2>&1 &
until redis-cli -h 127.0.0.1 -p 17381 ping >/dev/null 2>&1; do sleep 0.1; done
redis-benchmark -h 127.0.0.1 -p 17381 -q -n 300000 -c 20 -P 16 -r 100000 -t set,lpush,sadd,zadd,hset,mset >/dev/null
redis-cli -h 127.0.0.1 -p 17381 eval 'for i = 1, 50000 do redis.call("set", "k" .. i, ("x"):rep(i % 99)) end' 0 >/dev/null
redis-cli -h 127.0.0.1 -p 17381 shutdown nosave; wait $!
END

program xml-long 'libxml2-utils xsltproc' <<'END'
(echo '<r>'; for i in {1..40000}; do echo "<e n='$i'><t>text &amp; $i</t></e>"; done; echo '</r>') >a.xml
xmllint --xpath 'count(//e[@n mod 7 = 0]/t[contains(., "7")])' a.xml; xmllint --format a.xml | md5sum; xmllint --c14n a.xml | md5sum
cat >a.xsl <<'X'
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><o><xsl:for-each select="//e"><xsl:sort select="t"/><x><xsl:value-of select="concat(@n, ':', t)"/></x></xsl:for-each></o></xsl:template></xsl:stylesheet>
X
xsltproc a.xsl a.xml | md5sum
END

program git-long git <<'END'
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q -b main . && for i in {1..200}; do seq "$i" 700 >"f$i"; done; git add . && git commit -q -m zero
for c in {1..40}; do for i in {1..20}; do seq $((c + i)) 800 >"f$i"; done; git commit -q -a -m "c$c"; done
git log -p --stat | md5sum; git gc -q --aggressive; git blame f1 | md5sum; git log -S'799' --oneline | wc -l; git fsck
END

program deep gcc <<'END'
cat >a.c <<'C'
#include <stdio.h>
#include <stdlib.h>
static long left = 60000;
static int down(int depth, unsigned *seed);
__attribute__((noinline)) static int even(int depth, unsigned *seed) { return down(depth + 1, seed) + 1; }
__attribute__((noinline)) static int odd(int depth, unsigned *seed) { volatile char pad[64]; pad[0] = 1; return down(depth + 1, seed) + pad[0]; }
static int down(int depth, unsigned *seed) { int sum = 0;
  while (left-- > 0) { free(malloc(depth % 90 + 1)); unsigned turn = *seed = *seed * 1103515245 + 12345;
    if (depth > 3 && turn >> 16 & 1 && (turn >> 17 & 255) > 3) return sum;
    if (depth < 10000) sum += turn >> 20 & 1 ? even(depth, seed) : odd(depth, seed); }
  return sum; }
__attribute__((noinline)) static int start(int frames, unsigned *seed) { volatile char pad[32]; pad[0] = 1; return frames ? start(frames - 1, seed) + pad[0] : down(0, seed); }
int main(void) { unsigned seed = 1; for (int i = 0; left > 0; i++) printf("%d\n", start(i % 4 * 3300, &seed)); return 0; }
C
gcc -O1 -fno-builtin a.c -o a && ./a | tail -n 1
END
