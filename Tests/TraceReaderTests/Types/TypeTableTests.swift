import Testing
import TraceReader
import TraceTestSupport

@Suite struct TypeTableTests {
  private let shape = BlockType(
    id: TypeID(rawValue: 1), kind: .cxxClass, name: "5Shape", definition: Address(0x5000))
  private let circle = BlockType(
    id: TypeID(rawValue: 2), kind: .cxxClass, name: "6Circle", words: [0x6010, 0x6110],
    definition: Address(0x6000), base: TypeID(rawValue: 1), time: EventTime(7))
  private let array = BlockType(
    id: TypeID(rawValue: 3), kind: .swiftClass, name: "Swift._ContiguousArrayStorage<Swift.Int>",
    words: [0x7010], definition: Address(0x7000), instanceSize: 32)

  private func table(_ sightings: [TypeSighting]) -> TypeTable {
    var table = TypeTable()
    [shape, circle, array].forEach { table.add($0) }
    sightings.forEach { table.add($0) }
    return table
  }

  private func finding(_ table: TypeTable, size: UInt64) -> [UInt32]? {
    table.finding(stack: StackID(9), sizeClass: SizeClass(containing: size))?.types
      .map(\.rawValue)
  }

  @Test func recordsAreRead() throws {
    var builder = TraceBuilder()
    builder.type(shape, code: 7)
    builder.type(circle, code: 7)
    builder.type(array, code: 1)
    let sighting = TypeSighting(
      stack: StackID(9), size: 24, type: circle.id, evidence: .freed, freeStack: StackID(11))
    builder.typed(sighting)
    builder.fields([16, 40], ofWord: 0x7010)
    let file = try builder.write()

    let types = try Trace(path: file.path).types
    #expect(types.fieldOffsets(ofWord: 0x7010) == [16, 40])
    #expect(types.fieldOffsets(ofWord: 0x6010) == [])

    #expect(types.all == [shape, circle, array])
    #expect(types.type(ofWord: 0x6110) == circle)
    #expect(types.type(ofWord: 0) == nil)
    #expect(types.sightings(of: StackID(9)) == [sighting])
    #expect(types.sightings(of: StackID(8)) == [])
  }

  @Test func aKindOfALaterVersionIsKept() throws {
    var builder = TraceBuilder()
    builder.type(shape, code: 99)
    let file = try builder.write()

    #expect(try Trace(path: file.path).types.all.map(\.kind) == [.unknown(99)])
  }

  @Test func aBaseNeverCountsBesideADerivedClass() {
    let table = table([
      TypeSighting(stack: StackID(9), size: 24, type: circle.id),
      TypeSighting(
        stack: StackID(9), size: 24, type: shape.id, evidence: .freed, freeStack: StackID(4)),
    ])

    #expect(finding(table, size: 24) == [2])
    #expect(finding(table, size: 17) == [2], "17 bytes are of the same size class")
    #expect(finding(table, size: 33) == nil)
  }

  @Test func theFreeingStackIsKeptWhenNothingElseIsKnown() {
    let freed = TypeSighting(
      stack: StackID(9), size: 24, type: shape.id, evidence: .freed, freeStack: StackID(4))
    let settled = TypeSighting(stack: StackID(9), size: 24, type: shape.id)
    let sizeClass = SizeClass(containing: 24)

    #expect(
      table([freed]).finding(stack: StackID(9), sizeClass: sizeClass)?.freeStack == StackID(4))
    #expect(
      table([freed, settled]).finding(stack: StackID(9), sizeClass: sizeClass)?.freeStack
        == StackID.none)
  }

  @Test func severalTypesOfOneStackAreAllFound() {
    let table = table([
      TypeSighting(stack: StackID(9), size: 24, type: array.id),
      TypeSighting(stack: StackID(9), size: 24, type: circle.id),
    ])

    #expect(finding(table, size: 24) == [2, 3])
  }

  @Test func storageThatGrowsKeepsItsType() {
    let growing = table([TypeSighting(stack: StackID(9), size: 64, type: array.id)])
    let fixed = table([TypeSighting(stack: StackID(9), size: 64, type: circle.id)])

    #expect(finding(growing, size: 4000) == [3])
    #expect(finding(fixed, size: 4000) == nil)
  }

  @Test func basesInACircleEnd() {
    var table = TypeTable()
    let (first, second) = (TypeID(rawValue: 1), TypeID(rawValue: 2))
    table.add(BlockType(id: first, kind: .cxxClass, name: "1A", base: second))
    table.add(BlockType(id: second, kind: .cxxClass, name: "1B", base: first))

    #expect(table.isBase(first, of: second))
    #expect(!table.isBase(TypeID(rawValue: 3), of: second))
  }
}
