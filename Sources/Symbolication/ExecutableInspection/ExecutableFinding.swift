/// Something about an executable that keeps it from being recorded, or recorded wholly.
public struct ExecutableFinding: Sendable, Hashable {
  /// What it is.
  public enum Kind: Sendable, Hashable {
    /// There is no such file.
    case notFound
    /// A folder, or a file without execute permission.
    case notExecutable
    /// May be run but not read: nothing can be said about it.
    case unreadable
    /// Neither ELF nor a script.
    case notELF
    /// The interpreter that the script names cannot be found or run.
    case missingInterpreter(String)
    /// Damaged so that its headers cannot be read.
    case damaged
    /// No dynamic linker: nothing can be preloaded.
    case staticallyLinked
    /// For another processor or another word size; `machine` as `file` would name it.
    case foreignArchitecture(machine: String)
    /// The dynamic linker ignores preloads for reasons of safety.
    case setUserID
    case setGroupID
    case fileCapabilities
    /// Uses another libc than this recorder; the path of its dynamic linker.
    case foreignLibc(interpreter: String)
    /// Uses a glibc that lacks what the recorder needs of it; the path of its dynamic linker.
    case olderLibc(interpreter: String)
    /// Built with a sanitizer, which replaces the allocator itself.
    case sanitizer(String)
    /// Brings its own allocator along, which the recorder does not see.
    case bundledAllocator(BundledAllocator)
    /// Brings the C++ library's `operator new` along, which calls the `malloc` that is recorded.
    case bundledOperators
  }

  /// How much is lost.
  public enum Severity: Sendable, Hashable, Comparable {
    /// Something will be missing in the trace.
    case partial
    /// Nothing can be recorded.
    case blocking
  }

  /// What it is.
  public let kind: Kind

  /// The file that it was found in: the executable, or the interpreter of a script.
  public let path: String

  /// Makes a finding.
  public init(kind: Kind, path: String) {
    self.kind = kind
    self.path = path
  }

  /// Whether it is that Python has an allocator for its objects, which it need not use.
  public var isAllocatorOfPython: Bool {
    guard case .bundledAllocator(let allocator) = kind else { return false }
    return allocator.isPython
  }

  /// How much is lost.
  public var severity: Severity {
    switch kind {
    case .bundledAllocator, .bundledOperators, .unreadable: .partial
    default: .blocking
    }
  }
}
