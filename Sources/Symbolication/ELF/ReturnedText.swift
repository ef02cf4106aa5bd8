import CLibDW
import Glibc

/// What a function of C without parameters returns, as its machine code tells.
///
/// Nothing is called: the program need not run, and may come from elsewhere.
public enum ReturnedText: Sendable, Hashable {
  /// The function returns this text, whatever happens; an empty one for a null pointer.
  case text(String)
  /// The function does more than return a text, or its code is not at hand.
  case unknown

  /// The function whose text tells LeakSanitizer what it is to hide.
  public static let suppressions = "__lsan_default_suppressions"
}

/// Follows the machine code of functions that do nothing but return a text.
struct ReturnedTextReader {
  private let contents: ELFContents

  init(_ contents: ELFContents) { self.contents = contents }

  /// What the function at an ELF address returns.
  func text(returnedAt start: UInt64) -> ReturnedText {
    guard let address = value(returnedAt: start) else { return .unknown }
    guard address != 0 else { return .text("") }
    guard let bytes = contents.text(at: address, limit: Self.longestText)
    else { return .unknown }
    return .text(String(decoding: bytes, as: UTF8.self))
  }

  /// The value of `rax` where the function returns; nil where it is not known, or something that may lead
  /// elsewhere comes before.
  private func value(returnedAt start: UInt64) -> UInt64? {
    var (address, value) = (start, UInt64?.none)
    for _ in 0..<Self.mostInstructions {
      guard let step = instruction(at: address) else { return nil }
      let next = address &+ UInt64(step.length)
      switch step.effect {
      case .none: break
      case .unknown: value = nil
      case .relative(let distance): value = next &+ UInt64(bitPattern: Int64(distance))
      case .constant(let constant): value = constant
      case .return: return value
      }
      address = next
    }
    return nil
  }

  /// The instruction at an address; nil for one that such functions have no use for.
  private func instruction(at address: UInt64) -> Instruction? {
    Instruction.known.first { known in
      contents.bytes(at: address, count: known.code.count) == known.code
    }.flatMap { known in
      let operand = address &+ UInt64(known.code.count)
      switch known.operand {
      case .none: return Instruction(length: known.code.count, effect: known.effect)
      case .skipped(let count):
        return Instruction(length: known.code.count + count, effect: known.effect)
      case .distance:
        return contents.integer(Int32.self, at: operand).map {
          Instruction(length: known.code.count + 4, effect: .relative($0))
        }
      case .constant32:
        return contents.integer(UInt32.self, at: operand).map {
          Instruction(length: known.code.count + 4, effect: .constant(UInt64($0)))
        }
      case .constant64:
        return contents.integer(UInt64.self, at: operand).map {
          Instruction(length: known.code.count + 8, effect: .constant($0))
        }
      }
    }
  }

  private static let mostInstructions = 16
  private static let longestText = 1 << 16
}

/// An instruction of x86_64, as far as functions that return a text have it.
private struct Instruction {
  /// What it does to `rax`.
  enum Effect {
    case none
    case unknown
    /// The address so far behind the instruction.
    case relative(Int32)
    case constant(UInt64)
    case `return`
  }

  /// What follows the first bytes of an instruction.
  enum Operand {
    case none
    /// So many bytes that do not matter.
    case skipped(Int)
    case distance
    case constant32
    case constant64
  }

  struct Known {
    var code: [UInt8]
    var operand = Operand.none
    var effect = Effect.none
  }

  var length: Int
  var effect: Effect

  static let known: [Known] = [
    Known(code: [0xf3, 0x0f, 0x1e, 0xfa]),  // endbr64
    Known(code: [0x55]),  // push %rbp
    Known(code: [0x48, 0x89, 0xe5]),  // mov %rsp, %rbp
    Known(code: [0x5d]),  // pop %rbp
    Known(code: [0xc9]),  // leave
    Known(code: [0x90]),  // nop
    Known(code: [0x48, 0x8d, 0x05], operand: .distance),  // lea …(%rip), %rax
    Known(code: [0xb8], operand: .constant32),  // mov $…, %eax
    Known(code: [0x31, 0xc0], effect: .constant(0)),  // xor %eax, %eax
    Known(code: [0x48, 0xb8], operand: .constant64),  // movabs $…, %rax
    // Counters of coverage: mov …(%rip), %rax; add $1, %rax; mov %rax, …(%rip); or one of add, inc, with lock.
    Known(code: [0x48, 0x8b, 0x05], operand: .skipped(4), effect: .unknown),
    Known(code: [0x48, 0x83, 0xc0], operand: .skipped(1), effect: .unknown),
    Known(code: [0x48, 0x89, 0x05], operand: .skipped(4)),
    Known(code: [0x48, 0x83, 0x05], operand: .skipped(5)),
    Known(code: [0x48, 0xff, 0x05], operand: .skipped(4)),
    Known(code: [0xf0, 0x48, 0x83, 0x05], operand: .skipped(5)),
    Known(code: [0xf0, 0x48, 0xff, 0x05], operand: .skipped(4)),
    Known(code: [0xc3], effect: .return),
  ]
}

extension ImageSymbols {
  /// What a function of the image returns; nil where the image has no function of that name.
  func text(returnedBy function: String) -> ReturnedText? {
    guard let start = start(ofFunction: function) else { return nil }
    guard let contents, isForX86 else { return .unknown }
    return ReturnedTextReader(contents).text(returnedAt: start)
  }
}

extension ELFFile {
  /// The ELF address of a function that the file defines; nil where it has none of that name.
  func start(ofFunction name: String) -> UInt64? {
    var found: UInt64?
    forEachSymbol(inTables: [SHT_SYMTAB, SHT_DYNSYM]) { symbol, strings in
      guard found == nil, Int32(symbol.st_info & 0xf) == STT_FUNC, symbol.st_value != 0,
        Int32(symbol.st_shndx) != SHN_UNDEF,
        let text = elf_strptr(handle, Int(strings), Int(symbol.st_name)), strcmp(text, name) == 0
      else { return }
      found = symbol.st_value
    }
    return found
  }

  /// Whether its code is for x86_64.
  var isForX86: Bool {
    var header = GElf_Ehdr()
    return gelf_getehdr(handle, &header) != nil && Int32(header.e_machine) == EM_X86_64
  }
}
