import Glibc
import SystemPackage
import Testing
import TraceTestSupport

@testable import Symbolication

/// Files whose names are no UTF-8.
@Suite struct RecordedFileTests {
  private let scratch: ScratchDirectory

  init() throws {
    scratch = try ScratchDirectory()
  }

  /// Makes folders and a file in the last one, which holds its own name.
  private func write(_ names: [[UInt8]]) {
    var path = scratch.path.string.utf8CString.dropLast() + []
    for (position, name) in names.enumerated() {
      path += [CChar(UInt8(ascii: "/"))] + name.map(CChar.init(bitPattern:))
      guard position == names.count - 1 else {
        mkdir(path + [0], 0o755)
        continue
      }
      let descriptor = open(path + [0], O_WRONLY | O_CREAT, 0o644)
      #expect(Glibc.write(descriptor, name, name.count) == name.count)
      close(descriptor)
    }
  }

  /// What a file holds; nil where none is found.
  private func contents(of path: String) -> [UInt8]? {
    let descriptor = RecordedFile.open(scratch.path.string + "/" + path)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    return count < 0 ? nil : Array(bytes.prefix(count))
  }

  @Test func namesThatAreNoUTF8AreFound() {
    let folder: [UInt8] = [0x64, 0xe9]
    let name: [UInt8] = [0xff, 0x70, 0xc3]
    write([folder, name])
    write([folder, Array("plain".utf8)])
    #expect(contents(of: "d\u{fffd}/\u{fffd}p\u{fffd}") == name)
    #expect(contents(of: "d\u{fffd}/plain") == Array("plain".utf8))
    #expect(contents(of: "d\u{fffd}/\u{fffd}p") == nil)
    #expect(contents(of: "d/plain") == nil)
  }

  @Test func aFileWithThatVeryNameComesFirst() {
    let name = Array("\u{fffd}".utf8)
    write([[0xe9]])
    #expect(contents(of: "\u{fffd}") == [0xe9])
    write([name])
    #expect(contents(of: "\u{fffd}") == name)
  }

  @Test func foldersThatReadAlikeAreAllLookedThrough() {
    write([[0xe8], Array("one".utf8)])
    write([[0xe9], Array("two".utf8)])
    #expect(contents(of: "\u{fffd}/one") == Array("one".utf8))
    #expect(contents(of: "\u{fffd}/two") == Array("two".utf8))
  }
}
