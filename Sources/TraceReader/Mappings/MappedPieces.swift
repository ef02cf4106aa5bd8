/// Pieces of mapped memory in the order of addresses, in groups: to put one between a million others
/// moves no more than those of a group.
struct MappedPieces {
  /// Which addresses belong to which mapping.
  typealias Piece = MappedRanges.Piece

  /// Where a piece is, or where one can be put: in front of that.
  struct Position: Comparable {
    var group: Int
    var offset: Int

    static func < (left: Position, right: Position) -> Bool {
      (left.group, left.offset) < (right.group, right.offset)
    }
  }

  /// A group has at least one piece.
  private var groups: [[Piece]] = []
  private static let mostInGroup = 512

  /// Where the first piece is.
  let startPosition = Position(group: 0, offset: 0)
  /// Behind the last piece.
  var endPosition: Position { Position(group: groups.count, offset: 0) }

  /// The piece at a position, which is not the end.
  subscript(position: Position) -> Piece { groups[position.group][position.offset] }

  /// The first position whose piece fulfils a condition that holds from some piece on; the end when
  /// none does.
  func position(where condition: (Piece) -> Bool) -> Position {
    let group = groups.partitioningIndex { condition($0[$0.count - 1]) }
    guard group < groups.count else { return endPosition }
    return Position(group: group, offset: groups[group].partitioningIndex(where: condition))
  }

  /// The position of the piece before, where there is one.
  func position(before position: Position) -> Position {
    if position.offset > 0 {
      return Position(group: position.group, offset: position.offset - 1)
    }
    return Position(group: position.group - 1, offset: groups[position.group - 1].count - 1)
  }

  /// The position of the next piece, or the end.
  func position(after position: Position) -> Position {
    if position.offset + 1 < groups[position.group].count {
      return Position(group: position.group, offset: position.offset + 1)
    }
    return Position(group: position.group + 1, offset: 0)
  }

  /// The pieces between two positions.
  subscript(range: Range<Position>) -> [Piece] {
    var pieces: [Piece] = []
    var position = range.lowerBound
    while position < range.upperBound {
      pieces.append(self[position])
      position = self.position(after: position)
    }
    return pieces
  }

  /// Puts others in the place of pieces.
  ///
  /// Positions of before are void.
  mutating func replace(_ range: Range<Position>, with pieces: [Piece]) {
    let (first, end) = (range.lowerBound, range.upperBound)
    if first.group == groups.count {
      groups.append(pieces)
    } else if first.group == end.group {
      groups[first.group].replaceSubrange(first.offset..<end.offset, with: pieces)
    } else {
      if end.group < groups.count { groups[end.group].removeSubrange(..<end.offset) }
      groups[first.group].replaceSubrange(first.offset..., with: pieces)
      groups.removeSubrange(first.group + 1..<end.group)
    }
    settle(first.group)
  }

  /// Keeps a group from being empty, very small or very large.
  private mutating func settle(_ group: Int) {
    let count = groups[group].count
    if count > Self.mostInGroup {
      groups.insert(Array(groups[group][(count / 2)...]), at: group + 1)
      groups[group].removeSubrange((count / 2)...)
    } else if count < Self.mostInGroup / 4, group + 1 < groups.count,
      count + groups[group + 1].count <= Self.mostInGroup / 2
    {
      groups[group] += groups.remove(at: group + 1)
    }
    if groups[group].isEmpty { groups.remove(at: group) }
  }
}
