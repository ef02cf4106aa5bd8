import CLibDW
import Glibc

/// The coroutines of C++ in an ELF file, as far as its symbol table names their parts.
///
/// What the source has as one function is several: the one that its callers call makes the frame, others go
/// on from where it was suspended.
struct CoroutineSymbols {
  /// Who compiled a coroutine.
  enum Compiler {
    case gcc
    /// What is run before the coroutine is suspended first remains in the function that makes its frame.
    case clang
  }

  private var compilers: [String: Compiler] = [:]

  /// Reads `.symtab` of the files.
  init(files: [ELFFile]) {
    for file in files {
      file.forEachSymbol(inTables: [SHT_SYMTAB]) { symbol, strings in
        guard Int32(symbol.st_info & 0xf) == STT_FUNC,
          let text = elf_strptr(file.handle, Int(strings), Int(symbol.st_name))
        else { return }
        add(symbol: text)
      }
    }
  }

  init() {}

  private mutating func add(symbol: UnsafePointer<CChar>) {
    let name = UnsafeRawBufferPointer(start: symbol, count: strlen(symbol))
    // Most are neither: no text is made of them.
    guard name.hasSuffix(Self.resumed) || name.hasSuffix(Self.actor) else { return }
    add(String(cString: symbol))
  }

  /// Takes notice of a part of a coroutine: `_Z4workv.resume`, `_Z4workPZ4workvE14_Z4workv.Frame.actor`.
  mutating func add(_ symbol: String) {
    if symbol.hasSuffix(Self.resumed) {
      compilers[String(symbol.dropLast(Self.resumed.utf8CodeUnitCount))] = .clang
    } else if let function = Self.function(ofActor: symbol) {
      compilers[function] = .gcc
    }
  }

  /// Who compiled the coroutine with such a symbol; nil where it is none.
  func compiler(of function: String) -> Compiler? { compilers[function] }

  /// The type of its frame is named after the function, with the length in front as in all mangled names.
  private static func function(ofActor symbol: String) -> String? {
    guard symbol.hasSuffix(actor) else { return nil }
    let bytes = Array(symbol.utf8.dropLast(actor.utf8CodeUnitCount - frame.utf8CodeUnitCount))
    for start in bytes.indices.reversed() where bytes[start...].starts(with: "_Z".utf8) {
      let digits = bytes[..<start].reversed().prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
      let length = String(decoding: digits.reversed(), as: UTF8.self)
      // The number may follow another one: `E2` and `14`.
      guard length.hasSuffix("\(bytes.count - start)") else { continue }
      return String(nameBytes: bytes[start..<(bytes.count - frame.utf8CodeUnitCount)])
    }
    return nil
  }

  private static let resumed: StaticString = ".resume"
  private static let frame: StaticString = ".Frame"
  private static let actor: StaticString = ".Frame.actor"
}

extension UnsafeRawBufferPointer {
  fileprivate func hasSuffix(_ suffix: StaticString) -> Bool {
    suffix.withUTF8Buffer { suffix in
      count >= suffix.count && self[(count - suffix.count)...].elementsEqual(suffix)
    }
  }
}

extension String {
  fileprivate func hasSuffix(_ suffix: StaticString) -> Bool {
    suffix.withUTF8Buffer { utf8.suffix($0.count).elementsEqual($0) }
  }
}
