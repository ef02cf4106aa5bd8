/// What tells the members of a structure of C or C++ by where they are.
protocol MemberLayout {
  /// Bytes of the structure.
  var size: UInt64 { get }

  /// The member that lies at an offset and may hold a pointer; nil where none does.
  func member(at offset: UInt64) -> BlockMember?
}

/// The members of a structure of C or C++ that may hold pointers, as packed traces have them.
public struct StructureLayout: Hashable, Sendable, MemberLayout {
  /// Words one behind the other that belong to one member.
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
      guard let member = members.member(at: word * 8) else { continue }
      if let last = runs.last, last.member == member, last.firstWord + last.wordCount == word {
        runs[runs.count - 1].wordCount += 1
      } else {
        runs.append(Run(firstWord: word, wordCount: 1, member: member))
      }
    }
    self.init(size: members.size, runs: runs)
  }

  func member(at offset: UInt64) -> BlockMember? {
    guard offset % 8 == 0 else { return nil }
    let word = offset / 8
    let next = runs.partitioningIndex { $0.firstWord > word }
    guard next > 0, word - runs[next - 1].firstWord < runs[next - 1].wordCount else { return nil }
    return runs[next - 1].member
  }
}
