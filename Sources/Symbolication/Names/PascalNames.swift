/// What the symbols of Free Pascal tell.
enum PascalNames {
  /// Whether a function is part of the runtime library, of which the units that a program uses are linked into it:
  /// `SYSTEM$_$TOBJECT_$__$$_NEWINSTANCE$$TOBJECT`, `SYSUTILS_$$_STRALLOC$LONGWORD$$PCHAR`.
  static func isOfRuntimeLibrary(_ name: String) -> Bool {
    if name.hasPrefix("fpc_") { return true }
    guard let end = name.utf8.firstIndex(of: UInt8(ascii: "$")) else { return false }
    let rest = name[end...]
    if rest.hasPrefix("$_$") { return units.contains(String(name[..<end])) }
    guard rest.hasPrefix("$$_"), name[..<end].hasSuffix("_") else { return false }
    return units.contains(String(name[..<end].dropLast()))
  }

  private static let units: Set<String> = [
    "SYSTEM", "OBJPAS", "SYSUTILS", "CLASSES", "CONTNRS", "FGL", "STRINGS", "STRUTILS", "TYPINFO",
    "VARIANTS", "VARUTILS", "INIFILES", "SYNCOBJS", "MATH", "DATEUTILS", "RTTI",
    "CTHREADS", "CMEM", "HEAPTRC", "CWSTRING", "FPWIDESTRING", "UNICODEDATA",
    "UNIX", "BASEUNIX", "UNIXTYPE", "UNIXUTIL", "DYNLIBS", "EXEINFO", "LINEINFO", "LNFODWRF",
    "GETOPTS", "DOS", "CRT", "OBJECTS", "TYPES", "FMTBCD", "CHARSET", "PROCESS", "PIPES",
  ]
}
