import Glibc

/// Finds the file that a command runs, through `PATH`, scripts and `env`.
struct ExecutableLookup {
  /// Where a command leads.
  struct Resolution {
    /// Scripts first, what runs in the end last.
    var chain: [String]
    /// Why there is no end.
    var problem: ExecutableFinding?
  }

  /// The value of `PATH`; `nil` where it is not set.
  let searchPath: String?

  /// Follows a command to the file that runs in the end.
  func resolve(_ command: String) -> Resolution {
    var resolution = Resolution(chain: [])
    var next = find(command)
    for _ in 0..<Self.longestChain {
      switch next {
      case .failure(let problem):
        resolution.problem = problem
        return resolution
      case .success(let path):
        resolution.chain.append(path)
        guard let line = Self.interpreterLine(of: path) else { return resolution }
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
        guard let interpreter = words.first else {
          resolution.problem = ExecutableFinding(kind: .notELF, path: path)
          return resolution
        }
        next = findInterpreter(interpreter, of: path)
        guard case .success(let found) = next, Self.isEnv(found),
          let program = Self.program(ofEnvArguments: words.dropFirst())
        else { continue }
        resolution.chain.append(found)
        next = findInterpreter(program, of: path)
      }
    }
    let first = resolution.chain.first ?? command
    resolution.problem = ExecutableFinding(kind: .missingInterpreter(first), path: first)
    return resolution
  }

  /// The kernel follows four interpreters; `env` adds one each.
  private static let longestChain = 5

  // MARK: Finding files

  private enum Found {
    case success(String)
    case failure(ExecutableFinding)
  }

  private func find(_ command: String) -> Found {
    guard !command.isEmpty else {
      return .failure(ExecutableFinding(kind: .notFound, path: command))
    }
    if command.utf8.contains(UInt8(ascii: "/")) {
      return Self.problem(at: command).map(Found.failure) ?? .success(command)
    }
    var refused: ExecutableFinding?
    let folders = (searchPath ?? "/bin:/usr/bin").split(
      separator: ":", omittingEmptySubsequences: false)
    for folder in folders {
      let path = folder.isEmpty ? "./\(command)" : "\(folder)/\(command)"
      guard let problem = Self.problem(at: path) else { return .success(path) }
      if problem.kind == .notExecutable { refused = refused ?? problem }
    }
    return .failure(refused ?? ExecutableFinding(kind: .notFound, path: command))
  }

  private func findInterpreter(_ interpreter: String, of script: String) -> Found {
    if case .success(let path) = find(interpreter) { return .success(path) }
    return .failure(ExecutableFinding(kind: .missingInterpreter(interpreter), path: script))
  }

  private static func problem(at path: String) -> ExecutableFinding? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      let isThere = errno == EACCES
      return ExecutableFinding(kind: isThere ? .notExecutable : .notFound, path: path)
    }
    guard status.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0 else {
      return ExecutableFinding(kind: .notExecutable, path: path)
    }
    return nil
  }

  // MARK: Scripts

  /// What follows `#!` in the first line; `nil` for anything that is no script.
  private static func interpreterLine(of path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // The kernel looks at as many bytes: BINPRM_BUF_SIZE, https://man7.org/linux/man-pages/man2/execve.2.html
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 2, bytes[0] == UInt8(ascii: "#"), bytes[1] == UInt8(ascii: "!") else {
      return nil
    }
    let line = bytes[2..<count].prefix { $0 != UInt8(ascii: "\n") && $0 != 0 }
    return String(decoding: line, as: UTF8.self)
  }

  private static func isEnv(_ path: String) -> Bool {
    path == "/usr/bin/env" || path == "/bin/env"
  }

  /// The program in `env -S VAR=1 python3 -u`; `nil` when there is none.
  private static func program(ofEnvArguments words: ArraySlice<String>) -> String? {
    words.first { word in
      !word.hasPrefix("-") && !word.utf8.contains(UInt8(ascii: "="))
    }
  }
}
