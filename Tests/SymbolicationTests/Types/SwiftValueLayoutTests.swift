import Testing
import TraceReader

@testable import Symbolication

@Suite struct SwiftValueLayoutTests {
  private func layout(_ name: String) -> SwiftValueLayout? {
    SwiftValueLayout(ofTypeNamed: name) { $0 == "app.Node" || $0 == "app.Cell<Swift.Int>" }
  }

  @Test(
    arguments: [
      ("Swift.Int", 8), ("Swift.Bool", 1), ("Swift.Optional<Swift.Bool>", 1),
      ("Swift.Optional<Swift.Int>", 16), ("Swift.Optional<Swift.Int32>", 8),
      ("Swift.String", 16), ("Swift.Optional<Swift.String>", 16), ("app.Node", 8),
      ("app.Cell<Swift.Int>", 8), ("Swift.Optional<app.Node>", 8),
      ("(app.Event) -> ()", 16), ("() -> (Swift.Int, Swift.Int)", 16),
      ("Swift.Optional<() -> ()>", 16), ("Swift.Array<(app.Event) -> ()>", 8),
      ("Swift.Dictionary<Swift.String, Swift.Array<app.Event>>", 8),
      ("(Swift.Bool, Swift.String)", 24), ("(Swift.Int, Swift.Bool)", 16),
      ("((Swift.Int, Swift.Bool), Swift.Bool)", 16),
      ("Swift.Optional<(Swift.Int, Swift.Int)>", 24), ("FoundationEssentials.UUID", 16),
      ("Swift.Optional<FoundationEssentials.UUID>", 17), ("()", 1),
    ] as [(String, UInt64)])
  func valuesInArraysAreSoFarFromEachOther(_ name: String, _ stride: UInt64) {
    #expect(layout(name)?.stride == stride)
  }

  @Test(
    arguments: [
      "app.Event", "app.Cell<Swift.String>", "(Swift.Int, app.Event)",
      "Swift.Optional<app.Event>", "", "<", ">", "(", ")", "Swift.Optional<", "Swift.Optional<>",
      String(repeating: "Swift.Optional<", count: 40) + "Swift.Bool"
        + String(repeating: ">", count: 40),
    ])
  func othersAreNotKnown(_ name: String) {
    #expect(layout(name) == nil)
  }

  @Test func tuplesHaveTheirElements() {
    let tuple = layout("(Swift.Int32, (app.Node) -> (), Swift.Array<(Swift.Int, Swift.Int)>)")
    #expect(tuple?.fields.map(\.name) == ["0", "1", "2"])
    #expect(tuple?.fields.map(\.offset) == [0, 8, 24])
    #expect(tuple?.fields.map(\.numberOffset) == [0, nil, nil])
    #expect(layout("(Swift.Int, app.Node)")?.fields.map(\.countedReference) == [nil, 0])
    let optional = layout("Swift.Optional<(Swift.Int, app.Node)>")
    #expect(optional?.fields.map(\.countedReference) == [nil, nil])
    let nested = layout("(Swift.Int, (app.Node, Swift.Bool))")
    #expect(nested?.fields.map(\.name) == ["0", "1", "1.0", "1.1"])
    #expect(nested?.fields.map(\.offset) == [0, 8, 8, 16])
    #expect(layout("((), app.Node)")?.fields.map(\.numberOffset) == [nil, nil])
  }

  @Test func placesInTextsAreNumbers() {
    #expect(layout("Swift.String.Index")?.ownership == .number)
    let range = layout("Swift.Range<Swift.String.Index>")
    #expect(range?.fields.map(\.name) == ["lowerBound", "upperBound"])
    #expect(range?.fields.map(\.numberOffset) == [0, 8])
    let optional = layout("Swift.Optional<Swift.Range<Swift.String.Index>>")
    #expect(optional?.size == 17)
    #expect(optional?.fields.map(\.numberOffset) == [0, 8, 16])
    let small = layout("Swift.Optional<Swift.ClosedRange<Swift.Int32>>")
    #expect(small?.fields.map(\.numberOffset) == [0, nil, 8])
    let named = layout("(Swift.Optional<Swift.Range<Swift.Int>>, app.Node)")
    #expect(named?.fields.map(\.name) == ["0", "0.lowerBound", "0.upperBound", "0", "1"])
    #expect(named?.fields.map(\.numberOffset) == [nil, nil, nil, 16, nil])
    #expect(layout("Swift.Range<app.Event>") == nil)
  }

  @Test func valuesOfAnyTypeAreKnown() {
    #expect(layout("(Swift.Int, Any)")?.fields.map(\.ownership) == [.strong, .existential])
    #expect(layout("Swift.Optional<Any>")?.ownership == .existential)
    #expect(layout("Swift.AnyHashable")?.ownership == .existential)
    #expect(layout("Swift.Substring")?.ownership == .strong)
  }

  @Test(arguments: ["Swift.ArraySlice<app.Event>", "Swift.Optional<Swift.ArraySlice<app.Event>>"])
  func whereASliceCountsFromHoldsNothing(_ name: String) {
    #expect(layout(name)?.fields.map(\.numberOffset) == [8])
    let types = SwiftElementTypes(TypeTable(), ImageMap(images: []))
    #expect(types.layout(named: name)?.fields.map(\.numberOffset) == [8])
  }

  @Test func identifiersHoldNothing() {
    let types = SwiftElementTypes(TypeTable(), ImageMap(images: []))
    for name in ["Swift.ObjectIdentifier", "Swift.Optional<Swift.ObjectIdentifier>"] {
      let value = SwiftElements.value(.identifier)
      #expect(types.layout(named: name) == SwiftElements(stride: 8, fields: [value]))
    }
    let tuple = types.layout(named: "(Swift.Int, Swift.ObjectIdentifier)")
    #expect(tuple?.fields.map(\.ownership) == [.strong, .identifier])
  }

  @Test func storageIsOfKeysAndElements() {
    func types(_ name: String) -> [String?] {
      let type = BlockType(id: TypeID(rawValue: 1), kind: .swiftClass, name: name, words: [])
      return [SwiftElementTypes.key(of: type), SwiftElementTypes.element(of: type)]
    }
    #expect(types("Swift._ContiguousArrayStorage<(A, B)>") == [nil, "(A, B)"])
    #expect(types("Swift._DictionaryStorage<(A, B) -> C, D<E, F>>") == ["(A, B) -> C", "D<E, F>"])
    #expect(types("Swift._SetStorage<A>") == ["A", nil])
    #expect(types("Swift._DictionaryStorage<A>") == ["A", nil])
    #expect(types("app.List<A>") == [nil, nil])
    #expect(types("Swift.__StringStorage") == [nil, nil])
  }

  @Test func elementsOfTuplesHaveTheirLabels() {
    let fields = layout("(Swift.Int32, owner: app.Node, pair: (left: Swift.Int, app.Node))")?.fields
    #expect(
      fields?.map(\.name) == ["0", "owner", "pair", "pair.left", "pair.1"])
    #expect(fields?.map(\.offset) == [0, 8, 16, 16, 24])
  }
}

@Suite struct SwiftTypePartsTests {
  @Test(
    arguments: [
      ("app.List<Swift.Int>", "app.List", ["Swift.Int"]),
      ("app.List<Swift.Int>.Link", "app.List.Link", ["Swift.Int"]),
      (
        "app.Map<app.Key, Swift.Array<(a: Swift.Int, b: Swift.Int)>>.Node<() -> ()>.Part",
        "app.Map.Node.Part", ["app.Key", "Swift.Array<(a: Swift.Int, b: Swift.Int)>", "() -> ()"]
      ),
      ("app.Node", "app.Node", []), ("app.List<", "app.List<", []), ("<>", "<>", []),
      ("app.P<Swift.Int> & app.Q", "app.P<Swift.Int> & app.Q", []), ("", "", []),
      ("app.List<Swift.Int>>.Link", "app.List<Swift.Int>>.Link", []),
    ] as [(String, Substring, [Substring])])
  func typesInGenericOnesHaveTheirArguments(
    _ type: String, _ name: Substring, _ arguments: [Substring]
  ) {
    #expect(SwiftTypeParts(type[...]).form == .named(name, arguments: arguments))
  }

  @Test func tuplesHaveLabels() {
    guard case .tuple(let elements) = SwiftTypeParts("(Swift.Int, a_1: (b: app.Node))").form else {
      Issue.record("no tuple")
      return
    }
    #expect(elements.map(\.label) == [nil, "a_1"])
    #expect(elements.map(\.type) == ["Swift.Int", "(b: app.Node)"])
    #expect(elements.indices.map { elements[$0].name(at: $0) } == ["0", "a_1"])
  }
}
