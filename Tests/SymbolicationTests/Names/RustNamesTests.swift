import Testing

@testable import Symbolication

@Suite("Shortening of Rust names")
struct RustNamesTests {
  @Test(
    "demangles legacy and v0 symbols",
    arguments: [
      ("_ZN5alloc3vec12Vec$LT$T$GT$4push17h0123456789abcdefE", "alloc::vec::Vec<T>::push"),
      (
        "_ZN4demo4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
        "demo::main::{{closure}}"
      ),
      (
        "_ZN60_$LT$alloc..string..String$u20$as$u20$core..clone..Clone$GT$5clone17h0123456789abcdefE",
        "<alloc::string::String as core::clone::Clone>::clone"
      ),
      ("_RNvC6_123foo3bar", "123foo::bar"),
      ("_ZN4demo3foo17h0123456789abcdefE.llvm.1234567", "demo::foo"),
      ("_RINvC1d4makeAyj14_E", "d::make::<[u64; 20]>"),
      ("_RINvC1d4makeKj3_Kb1_E", "d::make::<3, true>"),
    ])
  func demangles(symbol: String, short: String) {
    let name = Demangler.name(of: symbol)
    #expect(name.short == short)
    #expect(name.language == .rust)
    #expect(name.raw == symbol)
  }

  @Test("keeps the hash in the full name")
  func full() {
    let name = Demangler.name(of: "_ZN4demo3foo17h0123456789abcdefE")
    #expect(name.full == "demo::foo::h0123456789abcdef")
  }

  @Test(
    "names variables without hashes",
    arguments: [
      ("std[e28293b1aa0f68bd]::io::stdio::STDOUT", "std::io::stdio::STDOUT"),
      (
        "<demo[1234abcd]::Cache as core[e28293b1aa0f68bd]::ops::Drop>::ITEMS",
        "<demo::Cache as core::ops::Drop>::ITEMS"
      ),
      ("demo::CACHE::h0123456789abcdef", "demo::CACHE"), ("table[16]::next", "table[16]::next"),
      (
        "std::__cxx11::basic_string[abi:cxx11]::npos", "std::__cxx11::basic_string[abi:cxx11]::npos"
      ),
    ])
  func variables(full: String, short: String) {
    #expect(DataSymbol(name: full, offset: 0, size: 8).shortName == short)
  }

  @Test("takes no C++ name for Rust's")
  func cxx() {
    #expect(Demangler.name(of: "_ZN3foo3barEv").language == .cxx)
  }

  @Test("adds the generic arguments of the debug information")
  func completes() {
    #expect(
      RustNames.complete("alloc::boxed::Box<T>::new", withDebugName: "new<d::Foo>")
        == "alloc::boxed::Box<T>::new<d::Foo>")
    #expect(RustNames.complete("d::make", withDebugName: "make") == "d::make")
    #expect(RustNames.complete("d::make", withDebugName: "other<T>") == "d::make")
    #expect(RustNames.complete("d::make", withDebugName: "<T>") == "d::make")
    let long = "make<" + String(repeating: "Map<", count: 20) + ">"
    #expect(RustNames.complete("d::make", withDebugName: long) == "d::make")
  }

  @Test("drops generic arguments that would fill a line")
  func longArguments() {
    let arguments = String(repeating: "core::iter::Map<", count: 5) + "T" + ">>>>>"
    #expect(RustNames.short("d::run::<\(arguments)>") == "d::run")
    #expect(RustNames.short("d::run::<u8>") == "d::run::<u8>")
  }
}
