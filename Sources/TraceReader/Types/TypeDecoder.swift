import CTraceFormat

/// Collects the records about types.
struct TypeDecoder {
  private(set) var table = TypeTable()

  /// Decodes the fields of a `TYPE` record.
  mutating func decodeType(_ cursor: inout ByteCursor) {
    let time = EventTime(cursor.read())
    let (word, definition, size): (UInt64, UInt64, UInt64) = (
      cursor.read(), cursor.read(), cursor.read()
    )
    let (id, base): (UInt32, UInt32) = (cursor.read(), cursor.read())
    let (kind, nameLength): (UInt32, UInt32) = (cursor.read(), cursor.read())
    let name = cursor.text(nameLength)
    guard !cursor.isPastEnd, id != 0 else { return }
    table.add(
      BlockType(
        id: TypeID(rawValue: id), kind: BlockType.Kind(code: kind), name: name,
        words: word == 0 ? [] : [word], definition: Address(definition), instanceSize: size,
        base: base == 0 ? nil : TypeID(rawValue: base), time: time))
  }

  /// Decodes the fields of a `FIELDS` record.
  mutating func decodeFields(_ cursor: inout ByteCursor) {
    cursor.skip(8)
    let word: UInt64 = cursor.read()
    let count: UInt32 = cursor.read()
    cursor.skip(4)
    // Checked before the loop: the record cannot hold more.
    let (byteCount, overflows) = count.multipliedReportingOverflow(by: 4)
    var offsets = ByteCursor(cursor.bytes(overflows ? .max : byteCount))
    guard !cursor.isPastEnd, word != 0 else { return }
    table.add(fieldOffsets: (0..<count).map { _ in UInt64(offsets.read(UInt32.self)) }, of: word)
  }

  /// Decodes the fields of a `TYPED` record.
  mutating func decodeSighting(_ cursor: inout ByteCursor) {
    cursor.skip(8)
    let size: UInt64 = cursor.read()
    let (stack, type): (UInt32, UInt32) = (cursor.read(), cursor.read())
    let (code, freeStack): (UInt32, UInt32) = (cursor.read(), cursor.read())
    guard !cursor.isPastEnd, let evidence = TypeSighting.Evidence(code: code) else { return }
    table.add(
      TypeSighting(
        stack: StackID(stack), size: size, type: TypeID(rawValue: type), evidence: evidence,
        freeStack: StackID(freeStack)))
  }
}
