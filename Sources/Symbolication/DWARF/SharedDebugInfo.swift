import CLibDW

/// What debug files of one package have in common, in a file of its own (`.gnu_debugaltlink`, made by dwz).
///
/// libdw finds it beside installed debug files by itself; beside fetched ones there is none.
final class SharedDebugInfo {
  private let file: ELFFile
  private let dwarf: OpaquePointer

  /// Finds what a file shares with others and makes it known to its DWARF; nil where there is nothing, or
  /// libdw has found it.
  ///
  /// - Parameters:
  ///   - dwarf: The DWARF of the file; keep this object for as long as that.
  ///   - file: The file.
  ///   - locator: Finds debug files.
  init?(of dwarf: OpaquePointer, in file: ELFFile, locator: DebugFileLocator) {
    var (name, bytes) = (UnsafePointer<CChar>?.none, UnsafeRawPointer?.none)
    let length = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &bytes)
    guard length > 0, let bytes, dwarf_getalt(dwarf) == nil else { return nil }
    let buildID = Array(UnsafeRawBufferPointer(start: bytes, count: length))
    guard let found = locator.file(withBuildID: buildID, for: file.path),
      let shared = dwarf_begin_elf(found.handle, DWARF_C_READ, nil)
    else { return nil }
    self.file = found
    self.dwarf = shared
    dwarf_setalt(dwarf, shared)
  }

  deinit {
    dwarf_end(dwarf)
  }
}
