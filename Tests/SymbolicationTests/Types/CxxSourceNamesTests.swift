import Testing
import TraceReader

@testable import Symbolication

/// Types as the source of C++ programs spells them, and as reports name them.
@Suite struct CxxSourceNamesTests {
  @Test(arguments: [
    ("A", "A"), ("struct A", "A"), ("class ns::A", "ns::A"), ("const A", "A"), ("A const", "A"),
    ("const struct A", "A"), ("::A", "A"), ("union U[]", "U[]"), ("const A[]", "A[]"),
    ("A *", "A*"), ("A *[]", "A*[]"), ("struct A **", "A**"), ("const char *", "char const*"),
    ("char const *[]", "char const*[]"), ("unsigned long *[]", "unsigned long*[]"),
    ("typename T::Node", "T::Node"), ("std::pair<O *, const W>", "std::pair<O*, W const>"),
    ("std::map<int,std::set<long>>", "std::map<int, std::set<long>>"),
    ("std::vector < struct A >", "std::vector<A>"),
    ("std::array<char,16> *", "std::array<char, 16>*"),
    (
      "std::map<K, std::vector<const char *>>::iterator",
      "std::map<K, std::vector<char const*>>::iterator"
    ),
    ("std::function<void(int, const A &)>", "std::function<void(int, const A &)>"),
    ("std::vector<A", "std::vector<A"), ("A<>", "A<>"), ("A< 3 , B * >", "A<3, B*>"),
    ("constant", "constant"), ("struct", "struct"),
  ])
  func oneSpellingOfEach(type: String, expected: String) {
    #expect(CxxSourceNames.plain(type) == expected)
  }

  @Test(arguments: [
    ("/src/a.cpp", "main", SymbolLanguage.plain, "A", TypeName.Language.cxx),
    ("/src/a.h", "get", .cxx, "A", .cxx),
    ("/src/a.c", "main", .plain, "struct A", .c),
    ("/src/a.h", "get", .plain, "struct A", .c),
  ])
  func theFileAndTheFunctionTellTheLanguage(
    path: String, function: String, language: SymbolLanguage, name: String,
    expected: TypeName.Language
  ) {
    let frame = SymbolicatedFrame(
      programCounter: Address(1),
      function: FunctionName(
        raw: function, short: function, full: function, base: function, language: language),
      location: SourceLocation(path: path, line: 1, column: 1))
    let site = AllocationSite(
      programCounter: Address(1), isExact: false, position: 0, frame: frame, isNew: false)
    #expect(
      SourceTypes.name("struct A", of: site)
        == TypeName(short: name, full: name, language: expected))
  }
}
