/// The register that a word of ``SnapshotThread/registers`` is of.
enum RegisterName {
  /// `rbx`, `zmm17`, `x19`: by how many words there are, which no two processors share.
  ///
  /// Parameters:
  /// - number: of the word.
  /// - count: of all words of its thread.
  static func text(number: Int, of count: Int) -> String {
    let isARM = count == 32 || count == 96
    return isARM ? textOfARM(number) : textOfX86(number)
  }

  private static func textOfARM(_ number: Int) -> String {
    switch number {
    case ..<31: "x\(number)"
    case 31: "sp"
    default: "v\((number - 32) / 2)"
    }
  }

  private static func textOfX86(_ number: Int) -> String {
    switch number {
    case ..<16: generalOfX86[number]
    case ..<48: "xmm\((number - 16) / 2)"
    case ..<80: "ymm\((number - 48) / 2)"
    case ..<144: "zmm\((number - 80) / 4)"
    default: "zmm\(16 + (number - 144) / 8)"
    }
  }

  private static let generalOfX86 = [
    "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15",
  ]
}
