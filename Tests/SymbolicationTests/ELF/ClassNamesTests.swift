import Testing
import TraceReader

@testable import Symbolication

/// The namespaces and classes that the classes of C++ are in, from the compiler to the name.
@Suite struct ClassNamesTests {
  private let fixture: Fixture

  init() throws {
    fixture = try Fixture()
  }

  private func symbols(
    compiler: String, options: [String]
  ) throws -> (symbols: ImageSymbols, program: String) {
    let program = try fixture.compile(
      "classes.cpp", with: compiler, ["-g"] + options, to: "program")
    let symbols = ImageSymbols(
      path: program, buildID: try ELFFile(path: program).buildID,
      locator: DebugFileLocator(directories: []), recordedAt: nil
    ) { _ in }
    return (symbols, program)
  }

  private func names(
    of types: [String], in function: String, named name: String = "main",
    compiler: String = "g++", options: [String] = ["-O0"]
  ) throws -> [String?] {
    let (symbols, program) = try symbols(compiler: compiler, options: options)
    let address = try Fixture.symbol(function, in: program) + 4
    return types.map { symbols.wholeName(ofClass: $0, in: name, at: address, in: 0) }
  }

  @Test(arguments: ["g++", "clang++"], [["-O0"], ["-O2", "-gdwarf-4"]])
  func classesHaveTheirNamespaces(compiler: String, options: [String]) throws {
    let types = [
      "Page", "app::Page", "Cache", "Entry", "Cache::Entry", "Entry*[]", "Hidden", "first::Twin",
      "Twin", "Node", "Global", "Alias", "Unfinished", "vector", "int", "",
    ]
    #expect(
      try names(of: types, in: "main", compiler: compiler, options: options)
        == [
          "app::Page", nil, "app::Cache", "app::Cache::Entry", "app::Cache::Entry",
          "app::Cache::Entry*[]", "app::(anonymous namespace)::Hidden", "app::first::Twin", nil,
          nil, nil, nil, nil, nil, nil, nil,
        ])
  }

  /// Optimisation while linking makes a unit of the code of all, in which no class is.
  @Test func codeThatTheLinkerMadeHasTheClassesOfItsSource() throws {
    #expect(
      try names(of: ["Page", "Tree<Page>", "Twin"], in: "main", options: ["-O2", "-flto"])
        == ["app::Page", "app::Tree<app::Page>", nil])
  }

  @Test(arguments: ["g++", "clang++"], [["-O0"], ["-O2", "-gdwarf-4"]])
  func templatesAndTheirArgumentsHaveTheirNamespaces(
    compiler: String, options: [String]
  ) throws {
    let types = [
      "Tree<int>", "Tree<Page>*[]", "app::Tree<Page const*>", "std::vector<Page>",
      "Tree<Twin>", "std::map<int, Tree<Page>>", "Tree<int>::Node", "Other<int>", "Tree",
      "Tree<void (*)(int)>", "Tree<", "Tree<>", "<Page>", "Page<3>", "unsigned int",
    ]
    #expect(
      try names(of: types, in: "main", compiler: compiler, options: options)
        == [
          "app::Tree<int>", "app::Tree<app::Page>*[]", "app::Tree<app::Page const*>",
          "std::vector<app::Page>", "app::Tree<Twin>", "std::map<int, app::Tree<app::Page>>",
          "app::Tree<int>::Node", nil, nil, "app::Tree<void (*)(int)>", "app::Tree<>",
          "app::Tree<>", nil, nil, nil,
        ])
  }

  @Test func templatesWhoseArgumentsAreApartAreNamedAsWell() throws {
    #expect(
      try names(
        of: ["Page", "Tree<int>", "Tree<Page>*[]", "std::map<int, Tree<Page>>", "Tree<Twin>"],
        in: "main", compiler: "clang++", options: ["-O0", "-gsimple-template-names"])
        == [
          "app::Page", "app::Tree<int>", "app::Tree<app::Page>*[]",
          "std::map<int, app::Tree<app::Page>>", "app::Tree<Twin>",
        ])
  }

  @Test func membersOfATemplateNeedNotWriteItsArguments() throws {
    let tree = "app::Tree<std::pair<int, int>>"
    #expect(
      try names(of: ["Tree", "Tree*", "Tree<int>"], in: "main", named: tree + "::copy")
        == [tree, tree + "*", "app::Tree<int>"])
    #expect(
      try names(of: ["Tree", "Tree*"], in: "main", named: tree + "::Node::copy")
        == [tree, tree + "*"])
  }

  @Test func aFunctionsOwnClassIsNoOther() throws {
    #expect(
      try names(
        of: ["Page", "Cache", "Tree<Page>", "Page*[]"], in: "with_local")
        == [nil, "app::Cache", "app::Tree<Page>", nil])
  }

  @Test func theClassOfTheFunctionComesFirst() throws {
    let tree = "app::Tree<std::pair<int, int>>::"
    #expect(
      try names(of: ["Node", "Node*[]", "Page"], in: "main", named: tree + "add<int>")
        == [tree + "Node", tree + "Node*[]", "app::Page"])
    #expect(
      try names(of: ["Twin", "first::Twin"], in: "main", named: "app::second::make")
        == ["app::second::Twin", "app::first::Twin"])
    #expect(
      try names(of: ["Node", "Twin"], in: "main", named: "app::Other<int>::add") == [nil, nil])
  }

  @Test(arguments: ["g++", "clang++"], [["-O0"], ["-O2", "-gdwarf-4"]])
  func namesThatATemplateGivesToTypesAreThoseOfItsInstance(
    compiler: String, options: [String]
  ) throws {
    let (symbols, program) = try symbols(compiler: compiler, options: options)
    let address = try Fixture.symbol("main", in: program) + 4
    func meaning(_ alias: String, in function: String) -> String? {
      symbols.typeName(ofAlias: alias, in: function, at: address, in: 0)
    }
    let member = "app::Tree<int>::add"
    #expect(meaning("value_type", in: member) == "int")
    #expect(meaning("node_type", in: member) == "app::Tree<int>::Node")
    #expect(meaning("pointer", in: member) == "int const*")
    #expect(meaning("Node", in: member) == nil)
    #expect(meaning("value_type", in: "app::Tree<long>::add") == nil)
    #expect(meaning("Alias", in: "main") == nil)
  }
}
