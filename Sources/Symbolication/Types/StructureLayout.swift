/// What tells the members of a structure of C or C++ by where they are.
protocol MemberLayout {
  /// Bytes of the structure.
  var size: UInt64 { get }

  /// The member that lies at an offset and may hold a pointer; nil where none does.
  func member(at offset: UInt64) -> BlockMember?

  /// Whether the word at an offset of the structure is known to hold no pointer.
  func isUnused(at offset: UInt64) -> Bool
}

extension MemberLayout {
  /// The member at an offset, and whether a pointer can be there; nil where nothing is known.
  func content(at offset: UInt64) -> BlockMember? {
    guard isUnused(at: offset) else { return member(at: offset) }
    var content = member(at: offset) ?? BlockMember()
    content.isUnused = true
    return content
  }

  /// Whether a word begins at an offset, and all of it is in the structure.
  func hasWord(at offset: UInt64) -> Bool {
    offset % 8 == 0 && offset < size && size - offset >= 8
  }
}

/// The members of a structure of C or C++ that may hold pointers, and where nothing may, as packed traces have them.
public struct StructureLayout: Hashable, Sendable, MemberLayout {
  /// Words one behind the other that belong to one member, or to none.
  struct Run: Hashable, Sendable {
    var firstWord: UInt64
    var wordCount: UInt64
    var member: BlockMember
  }

  let size: UInt64
  /// By ascending place.
  let runs: [Run]

  /// What lies behind these words of a structure is not told.
  static let mostWords: UInt64 = 2048

  init(size: UInt64, runs: [Run]) {
    (self.size, self.runs) = (size, runs)
  }

  /// Asks for the member at each word.
  init(_ members: some MemberLayout) {
    var runs: [Run] = []
    for word in 0..<min(members.size / 8, Self.mostWords) {
      guard let member = members.content(at: word * 8) else { continue }
      if let last = runs.last, last.member == member, last.firstWord + last.wordCount == word {
        runs[runs.count - 1].wordCount += 1
      } else {
        runs.append(Run(firstWord: word, wordCount: 1, member: member))
      }
    }
    self.init(size: members.size, runs: runs)
  }

  func isUnused(at offset: UInt64) -> Bool { member(at: offset)?.isUnused ?? false }

  func member(at offset: UInt64) -> BlockMember? {
    guard offset % 8 == 0 else { return nil }
    let word = offset / 8
    let next = runs.partitioningIndex { $0.firstWord > word }
    guard next > 0, word - runs[next - 1].firstWord < runs[next - 1].wordCount else { return nil }
    return runs[next - 1].member
  }
}
