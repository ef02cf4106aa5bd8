import Symbolication

/// What the recorder noted of calls that go past it, in the names that stacks have, too.
public enum BypassText {
  /// `operator new(unsigned long): /usr/bin/app` of the note `_Znwm: /usr/bin/app`.
  public static func of(_ note: String) -> String {
    guard let colon = note.firstRange(of: ": ") else { return note }
    return Demangler.name(of: String(note[..<colon.lowerBound])).full + note[colon.lowerBound...]
  }
}
