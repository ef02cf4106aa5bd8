import Symbolication

/// What the recorder noted of calls that go past it, in the names that stacks have, too.
public enum BypassText {
  /// `operator new(unsigned long): /usr/bin/app` of the note `_Znwm: /usr/bin/app`.
  public static func of(_ note: String) -> String {
    let (function, image) = parts(of: note)
    return image.map { "\(function): \($0)" } ?? function
  }

  /// Notes of the same image in one text, as in `malloc, free, realloc and 2 more of /usr/bin/app`.
  ///
  /// - Parameter notes: In the order of the trace.
  /// - Returns: One text for each image, in the order of the first notes.
  public static func byImage(_ notes: [String]) -> [String] {
    var images: [String?] = []
    var functions: [String?: [String]] = [:]
    for (function, image) in notes.map(parts) {
      if functions[image] == nil { images.append(image) }
      functions[image, default: []].append(function)
    }
    return images.map { image in
      let names = NameList.text(functions[image] ?? [])
      return image.map { "\(names) of \($0)" } ?? names
    }
  }

  /// The name of the function, and the path behind it; nil where a note has none.
  private static func parts(of note: String) -> (function: String, image: String?) {
    guard let colon = note.firstRange(of: ": ") else { return (note, nil) }
    let function = Demangler.name(of: String(note[..<colon.lowerBound])).full
    return (function, String(note[colon.upperBound...]))
  }
}
