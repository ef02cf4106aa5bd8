import Testing

@testable import Symbolication

@Suite("Shortening of C++ names")
struct CxxNamesTests {
  private static let string =
    "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

  private static let pmr = "std::pmr::polymorphic_allocator"

  @Test("says of functions that Swift's compiler has merged that another may be meant")
  func merged() {
    let name = Demangler.name(of: "_ZN3app5Cache4findEiTm")
    #expect(name.full == "merged app::Cache::find(int)")
    #expect(name.short == "app::Cache::find(int) [merged]")
    #expect(name.base == "app::Cache::find [merged]")
    #expect(name.language == .cxx)
    // No name of C++ without these letters either.
    #expect(Demangler.name(of: "_ZN3appTm").language == .plain)
  }

  @Test(
    "drops defaults and inline namespaces",
    arguments: [
      ("parse(\(string) const&)", "parse(std::string const&)"),
      (
        "std::vector<int, std::allocator<int> >::push_back(int&&)",
        "std::vector<int>::push_back(int&&)"
      ),
      (
        "std::map<int, \(string), std::less<int>, "
          + "std::allocator<std::pair<int const, \(string) > > >::operator[](int&&)",
        "std::map<int, std::string>::operator[](int&&)"
      ),
      (
        "std::__1::unordered_map<int, long, std::__1::hash<int>, std::__1::equal_to<int>, "
          + "std::__1::allocator<std::__1::pair<int const, long> > >::clear()",
        "std::unordered_map<int, long>::clear()"
      ),
      (
        "std::unique_ptr<Foo, std::default_delete<Foo> >::~unique_ptr()",
        "std::unique_ptr<Foo>::~unique_ptr()"
      ),
      (
        "std::__shared_count<(__gnu_cxx::_Lock_policy)2>::operator=(int)",
        "std::__shared_count<(__gnu_cxx::_Lock_policy)2>::operator=(int)"
      ),
      (
        "std::_Sp_counted_ptr_inplace<Foo, std::allocator<void>, (__gnu_cxx::_Lock_policy)2>::_M_dispose()",
        "std::_Sp_counted_ptr_inplace<Foo>::_M_dispose()"
      ),
      ("std::basic_ostream<char, std::char_traits<char> >& f()", "std::ostream& f()"),
      ("name[abi:cxx11](int)", "name(int)"),
      ("parse(int) [clone .constprop.0] [clone .cold]", "parse(int)"),
      (
        "std::map<int, std::__cxx11::basic_string<char, std::char_traits<char>, \(pmr)<char> >, "
          + "std::less<int>, \(pmr)<std::pair<int const, X> > >::clear()",
        "std::pmr::map<int, std::pmr::string>::clear()"
      ),
      (
        "f(std::basic_string<wchar_t, Traits, \(pmr)<wchar_t> >, app::map<int, \(pmr)<int> >)",
        "f(std::pmr::basic_string<wchar_t, Traits>, app::map<int, \(pmr)<int>>)"
      ),
      (
        "g(std::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >)",
        "g(std::wstring)"
      ),
      (
        "std::function<void (int*, std::function<int ()>)>::f(void (*)(int))",
        "std::function<void(int*, std::function<int()>)>::f(void (*)(int))"
      ),
      ("A<int () const>::f(B<void(int)>&)", "A<int() const>::f(B<void(int)>&)"),
      (
        "A<void (*)(int), void (C::*)(int), int (&) [3], C const (anonymous namespace)::x>",
        "A<void (*)(int), void (C::*)(int), int (&) [3], C const (anonymous namespace)::x>"
      ),
    ])
  func shortens(name: String, short: String) {
    #expect(CxxNames.short(name) == short)
  }

  @Test(
    "takes no operator for a bracket",
    arguments: [
      (
        "bool operator< <int>(A<int> const&, A<int> const&)",
        "bool operator< <int>(A<int> const&, A<int> const&)"
      ),
      (
        "std::ostream& operator<< <std::char_traits<char> >(std::ostream&, char const*)",
        "std::ostream& operator<< <std::char_traits<char>>(std::ostream&, char const*)"
      ),
      ("A::operator->() const", "A::operator->() const"),
      (
        "A::{lambda(auto:1)#1}::operator()<B<int, std::allocator<int> > >(B<int>) const",
        "A::{lambda(auto:1)#1}::operator()<B<int>>(B<int>) const"
      ),
      (
        "B<std::vector<int, std::allocator<int> > >::operator>>(int)",
        "B<std::vector<int>>::operator>>(int)"
      ),
      ("C<(int)3, ((2)>(1))>::f()", "C<(int)3, ((2)>(1))>::f()"),
      ("f<int>(decltype (x->y))", "f<int>(decltype (x->y))"),
      ("broken<int", "broken<int"), ("broken>(", "broken>("),
    ])
  func operators(name: String, short: String) {
    #expect(CxxNames.short(name) == short)
  }

  @Test(
    "drops parameters for the base name",
    arguments: [
      ("Foo::bar(int, char) const", "Foo::bar"),
      ("(anonymous namespace)::foo(int)", "(anonymous namespace)::foo"),
      ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"),
      ("foo(int)::{lambda()#1}::operator()() const", "foo::{lambda()#1}::operator()"),
      ("A<void (int)>::f()", "A<void (int)>::f"), ("operator new(unsigned long)", "operator new"),
      ("operator<<(A&, int)", "operator<<"), ("parse", "parse"),
    ])
  func bases(name: String, base: String) {
    #expect(CxxNames.withoutParameters(name) == base)
  }

  @Test("demangles, with and without the return type")
  func demangles() {
    let name = Demangler.name(of: "_Z3mapISt6vectorIiSaIiEEET_RKS2_")
    #expect(name.short == "map<std::vector<int>>(std::vector<int> const&)")
    #expect(name.base == "map<std::vector<int>>")
    #expect(name.full.hasPrefix("std::vector<int, std::allocator<int> > map<"))
    #expect(name.language == .cxx)
  }

  @Test("drops versions and suffixes of clones")
  func versions() {
    #expect(Demangler.name(of: "memcpy@@GLIBC_2.14").short == "memcpy")
    #expect(Demangler.name(of: "parse.constprop.0").short == "parse")
    #expect(Demangler.name(of: "parse.constprop.0").raw == "parse.constprop.0")
    #expect(Demangler.name(of: "_Z5parsei.constprop.0").short == "parse(int)")
    #expect(Demangler.name(of: "jit.function").short == "jit.function")
    #expect(Demangler.name(of: "").short == "")
    #expect(Demangler.name(of: "_Zgarbage").language == .plain)
  }

  @Test("stops at a name that stands for gigabytes")
  func bomb() {
    // Each parameter is a pair of the one before: 2^n names.
    let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    var symbol = "_Z1f1AIiiE"
    for n in 0..<34 {
      symbol +=
        "1AIS\(n == 0 ? "" : String(digits[n - 1]))_S\(n == 0 ? "" : String(digits[n - 1]))_E"
    }
    let name = Demangler.name(of: symbol)
    #expect(name.short.utf8.count <= 64 << 10)
  }

  @Test(
    "gives the parts of a coroutine its name",
    arguments: [
      ("_ZN1n1T3runEPZNS0_3runEiE19_ZN1n1T3runEi.Frame.actor", "n::T::run(int)"),
      ("_ZN1n1T3runEPZNS0_3runEiE19_ZN1n1T3runEi.Frame.destroy", "n::T::run(int)"),
      ("_ZN1n1T3runEPZNS0_3runEiE19_ZN1n1T3runEi.Frame.actor.cold", "n::T::run(int)"),
      (
        "_ZZ4mainENUlvE_clEPZZ4mainENKS_clEvE26_ZZ4mainENKUlvE_clEv.Frame.actor",
        "main::{lambda()#1}::operator()() const"
      ),
      ("_ZN1n1T3runEi.resume", "n::T::run(int)"),
      ("_Z.Frame.actor", "_Z.Frame.actor"), (".Frame.actor", ".Frame.actor"),
    ])
  func coroutines(symbol: String, expected: String) {
    let name = Demangler.name(of: symbol)
    #expect(name.short == expected)
    #expect(name.raw == symbol)
  }
}
