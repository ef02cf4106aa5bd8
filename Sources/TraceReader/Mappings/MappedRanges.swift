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

  /// In the order of addresses; no two of them overlap, and no two that touch are alike.
  private(set) var pieces: [Piece] = []

  /// The piece that an address lies in; nil when there is none.
  func piece(at address: UInt64) -> Piece? {
    let index = pieces.partitioningIndex { $0.range.end > address }
    guard index < pieces.count, pieces[index].range.start <= address else { return nil }
    return pieces[index]
  }

  /// Takes out all that lies in a range.
  ///
  /// - Returns: What was taken out, in the order of addresses.
  mutating func remove(_ range: MappedRange) -> [Piece] {
    guard !range.isEmpty else { return [] }
    let first = pieces.partitioningIndex { $0.range.end > range.start }
    let end = pieces.partitioningIndex { $0.range.start >= range.end }
    guard first < end else { return [] }
    let touched = Array(pieces[first..<end])
    let kept = [
      touched[0].part(of: MappedRange(start: 0, end: range.start)),
      touched[touched.count - 1].part(of: MappedRange(start: range.end, end: .max)),
    ]
    pieces.replaceSubrange(first..<end, with: kept.filter { !$0.range.isEmpty })
    return touched.map { $0.part(of: range) }
  }

  /// Puts in a piece where there is nothing.
  mutating func insert(_ piece: Piece) {
    guard !piece.range.isEmpty else { return }
    var piece = piece
    var (first, end) = (pieces.partitioningIndex { $0.range.start >= piece.range.end }, 0)
    end = first
    if first > 0, pieces[first - 1].continues(in: piece) {
      first -= 1
      piece.range.start = pieces[first].range.start
    }
    if end < pieces.count, piece.continues(in: pieces[end]) {
      piece.range.end = pieces[end].range.end
      end += 1
    }
    pieces.replaceSubrange(first..<end, with: CollectionOfOne(piece))
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
