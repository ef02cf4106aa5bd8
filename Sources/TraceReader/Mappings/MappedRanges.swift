/// Which addresses are mapped, and by which mapping.
struct MappedRanges {
  /// Addresses that belong to one mapping.
  struct Piece: Equatable {
    var range: MappedRange
    /// Its position in the list of mappings.
    var mapping: Int
    /// Whether nobody may touch it.
    var isReserved: Bool
  }

  /// No two of them overlap, and no two that touch are alike.
  private var pieces = MappedPieces()

  /// The piece that an address lies in; nil when there is none.
  func piece(at address: UInt64) -> Piece? {
    let position = pieces.position { $0.range.end > address }
    guard position < pieces.endPosition, pieces[position].range.start <= address else {
      return nil
    }
    return pieces[position]
  }

  /// Takes out all that lies in a range.
  ///
  /// - Returns: What was taken out, in the order of addresses.
  mutating func remove(_ range: MappedRange) -> [Piece] {
    guard !range.isEmpty else { return [] }
    let first = pieces.position { $0.range.end > range.start }
    let end = pieces.position { $0.range.start >= range.end }
    guard first < end else { return [] }
    let touched = pieces[first..<end]
    let kept = [
      touched[0].part(of: MappedRange(start: 0, end: range.start)),
      touched[touched.count - 1].part(of: MappedRange(start: range.end, end: .max)),
    ]
    pieces.replace(first..<end, with: kept.filter { !$0.range.isEmpty })
    return touched.map { $0.part(of: range) }
  }

  /// Puts in a piece where there is nothing.
  mutating func insert(_ piece: Piece) {
    guard !piece.range.isEmpty else { return }
    var piece = piece
    var first = pieces.position { $0.range.start >= piece.range.end }
    var end = first
    if end < pieces.endPosition, piece.continues(in: pieces[end]) {
      piece.range.end = pieces[end].range.end
      end = pieces.position(after: end)
    }
    if first > pieces.startPosition {
      let before = pieces.position(before: first)
      if pieces[before].continues(in: piece) {
        piece.range.start = pieces[before].range.start
        first = before
      }
    }
    pieces.replace(first..<end, with: [piece])
  }
}

extension MappedRanges.Piece {
  /// What of it lies in a range; empty for nothing.
  fileprivate func part(of other: MappedRange) -> MappedRanges.Piece {
    var part = self
    part.range = MappedRange(
      start: max(range.start, other.start), end: min(range.end, other.end))
    return part
  }

  /// Whether another piece goes on where this one ends, and is like it.
  fileprivate func continues(in next: MappedRanges.Piece) -> Bool {
    range.end == next.range.start && mapping == next.mapping && isReserved == next.isReserved
  }
}
