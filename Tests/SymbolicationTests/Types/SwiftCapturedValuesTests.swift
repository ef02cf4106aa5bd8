import Testing
import TraceReader

@testable import Symbolication

@Suite struct SwiftCapturedValuesTests {
  private func values(_ kind: BlockType.Kind, _ name: String) -> SwiftCapturedValues? {
    let layouts: [String: SwiftElements] = [
      "app.Edge": SwiftElements(
        stride: 16,
        fields: [SwiftField(name: "weight", offset: 0), SwiftField(name: "target", offset: 8)]),
      "app.Line": SwiftElements(stride: 40, fields: [SwiftElements.value(.existential)]),
      "app.Listener": SwiftElements(stride: 16, fields: SwiftElements.ofObjects),
    ]
    return SwiftCapturedValues(BlockType(id: TypeID(rawValue: 1), kind: kind, name: name)) { name in
      SwiftValueLayout(ofTypeNamed: name) { $0 == "app.Node" }.map { .init($0) }
        ?? layouts[name].map { .init($0) }
    }
  }

  private func names(
    _ captures: String, size: UInt64, at offsets: [UInt64]
  ) -> [String?] {
    offsets.map { values(.swiftCaptures, captures)?.name(at: $0, ofBlockOf: size) }
  }

  @Test func capturesHaveTheirNumbers() {
    #expect(
      names("[Sb][3app4NodeC][SS]", size: 48, at: [8, 16, 24, 32, 40])
        == [nil, "[0]", "[1]", "[2]", "[2]"])
    #expect(
      names("[Si_3app4NodeCt][Si]", size: 40, at: [16, 24, 32]) == ["[0].0", "[0].1", "[1]"])
  }

  @Test func propertiesOfStructuresAreNamed() {
    #expect(
      names("[3app4EdgeV][Si]", size: 40, at: [16, 24, 32])
        == ["[0].weight", "[0].target", "[1]"])
    #expect(names("[Si][3app4EdgeV]", size: 36, at: [16, 32]) == ["[0]", "[1].target"])
  }

  /// The types that generic code was made for stand in front of the values.
  @Test func valuesAreAtTheEnd() {
    #expect(names("[3app4NodeC][Si]", size: 40, at: [16, 24, 32]) == [nil, "[0]", "[1]"])
  }

  @Test func aContainerTakesWhatIsLeft() {
    #expect(
      names("[3app4NodeC][3app5Shape_p][Si]", size: 72, at: [16, 24, 56, 64])
        == ["[0]", "[1]", "[1]", "[2]"])
    #expect(
      names("[3app4LineP_p][Sb][Si]", size: 72, at: [16, 48, 56, 64]) == [
        "[0]", "[0]", "[1]", "[2]",
      ])
    #expect(names("[3app5Shape_p]", size: 56, at: [16, 40]) == ["value", "value"])
  }

  @Test func aValueOfUnknownSizeTakesWhatIsLeft() {
    #expect(names("[x]", size: 32, at: [8, 16, 24]) == [nil, "value", "value"])
    #expect(names("[x][Si]", size: 48, at: [16, 32, 40]) == ["[0]", "[0]", "[1]"])
    #expect(
      names("[x][Sb][3app4EdgeV]", size: 48, at: [16, 32, 40])
        == ["[0]", "[2].weight", "[2].target"])
    // Types may stand in front of the first value.
    #expect(names("[3app4NodeC][x][Si]", size: 56, at: [16, 24, 48]) == [nil, nil, "[2]"])
    let known = values(.swiftCaptures, "[x][3app4NodeC][3app4NodeCXo][Sb]")
    #expect(known?.countedFromEnd == [24])
    #expect(known?.unownedFromEnd == [16])
    #expect(known?.fields.isEmpty == true)
  }

  @Test func numbersAreFound() {
    func numbers(_ kind: BlockType.Kind, _ name: String) -> [UInt64]? {
      values(kind, name)?.numbersFromEnd
    }
    #expect(numbers(.swiftCaptures, "[Sb][s10ArraySliceVySiG][Si]") == [48, 32])
    #expect(numbers(.swiftBox, "(Swift.Int, Swift.Optional<Swift.ArraySlice<app.Node>>)") == [24])
    #expect(numbers(.swiftBox, "app.Node") == [])
    // Whether these end with the block is not known.
    #expect(numbers(.swiftCaptures, "[Sb][3app4EdgeV]") == [])
  }

  @Test func containersAreFound() {
    func containers(_ name: String) -> [UInt64]? {
      values(.swiftCaptures, name)?.fields.filter { $0.ownership == .existential }.map(\.offset)
    }
    #expect(containers("[yp][3app5ShapeP_p][Si]") == [16])
    #expect(containers("[Sb][yp][ypSg][Si]") == [24, 56])
    #expect(containers("[Si][3app4LineP_p][Sb][Si]") == [24])
    #expect(containers("[3app4NodeC][Si]") == [])
    #expect(containers("[3app8ListenerP_p][Si]") == [])
  }

  @Test func boxesHaveValues() {
    #expect(names("[3app4NodeC]", size: 24, at: [16]) == ["value"])
    #expect(names("[3app4NodeC_ACt]", size: 32, at: [16, 24]) == ["value.0", "value.1"])
    let box = values(.swiftBox, "app.Edge")
    #expect([16, 24].map { box?.name(at: $0, ofBlockOf: 32) } == ["value.weight", "value.target"])
  }

  @Test func boxesOfErrorsHaveValuesBehindTheirConformance() {
    let box = values(.swiftError, "app.Edge")
    #expect(
      [16, 24, 32, 40].map { box?.name(at: $0, ofBlockOf: 48) }
        == [nil, nil, "value.weight", "value.target"])
    #expect(box?.name(at: 16, ofBlockOf: 32) == nil)
  }

  @Test func whereSizesAreUnknownNothingIsNamed() {
    #expect(values(.swiftCaptures, "[x][q_]") == nil)
    #expect(values(.swiftCaptures, "[3app5PointV][x][Si]") == nil)
    #expect(values(.swiftCaptures, "[3app5Shape_p][3app5Shape_p]") == nil)
    #expect(values(.swiftCaptures, "[3app4EdgeV][Sb]") == nil)
    #expect(values(.swiftCaptures, "") == nil)
    #expect(values(.swiftClass, "app.Node") == nil)
    #expect(names("[3app4NodeC][Si]", size: 24, at: [16]) == [nil])
    #expect(names("[3app4NodeC][Si]", size: 36, at: [24]) == [nil])
  }

  @Test func typesWhoseSizeFilesTellAreListed() {
    func types(_ name: String) -> [String] {
      SwiftCapturedValues.types(
        in: BlockType(id: TypeID(rawValue: 1), kind: .swiftCaptures, name: name))
    }
    #expect(types("[Si][3app4EdgeV]") == ["app.Edge"])
    #expect(types("[Si_3app4EdgeVt]") == ["Swift.Int", "app.Edge"])
  }
}
