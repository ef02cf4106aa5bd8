extension ExecutableFinding: CustomStringConvertible {
  /// Why allocations will be missing, as the end of a sentence that begins with the path.
  public var reason: String {
    switch kind {
    case .notFound: "is not there"
    case .notExecutable: "may not be executed"
    case .unreadable: "may be executed but not read, so that it cannot be inspected"
    case .notELF: "is neither an ELF file nor a script that begins with #!"
    case .missingInterpreter(let interpreter):
      "is a script whose interpreter \(interpreter) cannot be run"
    case .damaged: "is an ELF file whose headers are damaged"
    case .staticallyLinked: "is linked statically, so that no library can be preloaded into it"
    case .foreignArchitecture(let machine):
      "is for \(machine), so that this machine's recorder cannot be loaded into it"
    case .setUserID: "has the set-user-ID bit, for which preloaded libraries are ignored"
    case .setGroupID: "has the set-group-ID bit, for which preloaded libraries are ignored"
    case .fileCapabilities: "has file capabilities, for which preloaded libraries are ignored"
    case .foreignLibc(let interpreter):
      "uses another C library than glibc (its dynamic linker is \(interpreter))"
    case .olderLibc(let interpreter):
      "uses a C library that is older than the recorder needs (its dynamic linker is "
        + "\(interpreter))"
    case .sanitizer(let name): "is built with \(name), which replaces the allocator itself"
    case .bundledAllocator(let allocator): allocator.reason
    case .bundledOperators:
      "has the C++ library linked in, so that operator new and delete are recorded as the malloc "
        + "and free that they call"
    }
  }

  /// What can be done about it; `nil` when there is nothing to say.
  public var advice: String? {
    switch kind {
    case .notFound: "check the spelling and PATH"
    case .notExecutable: "chmod +x it"
    case .unreadable: "record it as a user who may read it"
    case .notELF: "add a first line such as #!/bin/sh, or name the interpreter in the command"
    case .missingInterpreter: "install the interpreter, or name another one in the command"
    case .damaged: nil
    case .staticallyLinked: "link it dynamically: without -static and -static-pie"
    case .foreignArchitecture: "build it for this machine"
    case .setUserID, .setGroupID, .fileCapabilities:
      "record a copy of the file (a plain cp drops the privilege), or record as the user it "
        + "changes to"
    case .foreignLibc: "build it against glibc"
    case .olderLibc: "build the recorder where that C library is"
    case .sanitizer: "build it without -fsanitize"
    case .bundledAllocator(let allocator): allocator.advice
    case .bundledOperators: "link it without -static-libstdc++ to have mismatches of them reported"
    }
  }

  /// One line: what, why, and what to do.
  public var description: String {
    advice.map { "\(path) \(reason); \($0)" } ?? "\(path) \(reason)"
  }
}

extension BundledAllocator {
  /// Why allocations will be missing.
  var reason: String {
    switch name {
    case "V8", "Go":
      "keeps its objects in \(name)'s garbage-collected heap, which is not recorded"
    case "pymalloc":
      "puts Python's small objects into arenas of its own, which are recorded as large blocks"
    case "own malloc", "own operator new":
      "defines \(Demangler.name(of: symbol).full) itself, so that its own calls of it are not recorded"
    default:
      if symbol.isEmpty {
        "has \(name) linked in: what it allocates by it is not recorded"
      } else {
        replacesMalloc
          ? "has \(name) linked in as its malloc, so that its own calls of it are not recorded"
          : "has \(name) linked in (\(Demangler.name(of: symbol).full)): what it allocates by that name is not recorded"
      }
    }
  }

  /// What can be done about it; `nil` when there is nothing to say.
  var advice: String? {
    switch name {
    case "V8", "Go": nil
    case "pymalloc": "set PYTHONMALLOC=malloc to record each object"
    default:
      symbol.isEmpty
        ? "record it with --bundled-allocator before it is stripped"
        : canBeRecorded
          ? "record it with --bundled-allocator, or build it with the C library's allocator"
          : "build it with the C library's allocator to record all"
    }
  }
}
