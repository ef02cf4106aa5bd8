import TraceReader

@testable import Symbolication

extension Image {
  /// An image over all addresses from `bias` on, with the build ID that the file has now.
  static func of(_ path: String, bias: UInt64 = 0, buildID: [UInt8]? = nil) -> Image {
    Image(
      index: 0, path: path, buildID: buildID ?? (try? ELFFile(path: path))?.buildID ?? [],
      loadBias: bias, start: Address(bias), end: Address(.max), textStart: Address(bias),
      textEnd: Address(.max))
  }
}

extension ELFSymbolicator {
  /// Frames of an ELF address in a file, which is loaded somewhere else.
  func frames(_ address: UInt64, in path: String, isExact: Bool = true) -> [SymbolicatedFrame] {
    let bias: UInt64 = 0x7f00_0000_0000
    return frames(
      at: Address(address &+ bias), in: .of(path, bias: bias), isExact: isExact)
  }
}
