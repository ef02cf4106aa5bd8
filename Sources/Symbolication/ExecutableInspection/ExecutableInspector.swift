import CLibDW

/// Inspects one ELF file.
struct ExecutableInspector {
  let path: String
  let identity: ProcessIdentity
  /// The recorder that is to be loaded into it; nil where none is.
  var recorder: String?

  /// What keeps the file from being recorded, wholly or in part.
  func findings() -> [ExecutableFinding] {
    let file: ELFFile
    do throws(ELFFile.OpenError) {
      file = try ELFFile(path: path)
    } catch {
      return [finding(Self.kind(of: error))]
    }
    var header = GElf_Ehdr()
    guard gelf_getehdr(file.handle, &header) != nil else { return [finding(.damaged)] }
    if let machine = Self.foreignMachine(of: file, header) {
      return [finding(.foreignArchitecture(machine: machine))]
    }
    var found: [ExecutableFinding] = []
    let program = ProgramHeaders(of: file)
    guard program.count > 0 else { return [finding(.damaged)] }
    // The dynamic linker has no other, but preloads for the program that it is told to run.
    let isLoader = program.interpreter == nil && Self.isGlibc(program.ownName ?? "")
    if let loader = program.interpreter ?? (isLoader ? path : nil) {
      if !isLoader, !Self.isGlibc(loader) {
        found.append(finding(.foreignLibc(interpreter: loader)))
      } else if isTooOld(loader) {
        found.append(finding(.olderLibc(interpreter: loader)))
      }
    } else {
      found.append(finding(.staticallyLinked))
    }
    if let privilege = identity.privilege(ofFileAt: path) { found.append(finding(privilege)) }

    // Until glibc 2.33 it exported a `malloc`, which programs do not call.
    if isLoader { return found }
    var signs = AllocatorSigns()
    signs.read(file)
    if let name = program.neededLibraries.lazy.compactMap(AllocatorSigns.sanitizer(library:)).first
      ?? signs.sanitizer
    {
      found.append(finding(.sanitizer(name)))
    } else {
      let named = signs.allocators
      let allocators = named.isEmpty ? AllocatorTexts.allocators(inStripped: file) : named
      found += allocators.map { finding(.bundledAllocator($0)) }
      if signs.hasBundledOperators { found.append(finding(.bundledOperators)) }
    }
    return found
  }

  private func finding(_ kind: ExecutableFinding.Kind) -> ExecutableFinding {
    ExecutableFinding(kind: kind, path: path)
  }

  private static func kind(of error: ELFFile.OpenError) -> ExecutableFinding.Kind {
    switch error {
    case .missing: .notFound
    case .unreadable: .unreadable
    case .notELF: .notELF
    }
  }

  /// The dynamic linkers of glibc; other systems' have other names.
  private static func isGlibc(_ interpreter: String) -> Bool {
    let name = interpreter.split(separator: "/").last ?? ""
    return name.hasPrefix("ld-linux") || name.hasPrefix("ld-2.") || name == "ld.so.1"
      || name == "ld64.so.1" || name == "ld64.so.2"
  }

  // MARK: Age

  /// The version at which libpthread and libdl became part of the C library: what was linked since
  /// needs it, and the loader defines it as well.
  private static let unifiedLibrary = "GLIBC_2.34"

  /// Whether the C library to which a loader belongs would refuse the recorder.
  private func isTooOld(_ loader: String) -> Bool {
    // The recorder, which is larger, is read only where the loader lacks the version.
    guard let recorder, let loaderFile = try? ELFFile(path: loader),
      !VersionNames.defined(by: loaderFile).contains(Self.unifiedLibrary),
      let recorderFile = try? ELFFile(path: recorder)
    else { return false }
    return VersionNames.needed(by: recorderFile).contains(Self.unifiedLibrary)
  }

  // MARK: Architecture

  private static func foreignMachine(of file: ELFFile, _ header: GElf_Ehdr) -> String? {
    let is64Bit = gelf_getclass(file.handle) == ELFCLASS64
    let machine = Int(header.e_machine)
    if machine == hostMachine, is64Bit { return nil }
    let name = machineNames[machine] ?? "machine \(machine)"
    return machine == EM_386 || machine == EM_ARM ? name : is64Bit ? name : "\(name), 32-bit"
  }

  #if arch(x86_64)
    private static let hostMachine = Int(EM_X86_64)
  #elseif arch(arm64)
    private static let hostMachine = Int(EM_AARCH64)
  #else
    private static let hostMachine = -1
  #endif

  private static let machineNames: [Int: String] = [
    Int(EM_X86_64): "x86-64", Int(EM_386): "i386", Int(EM_AARCH64): "aarch64",
    Int(EM_ARM): "arm", Int(EM_RISCV): "riscv", Int(EM_PPC64): "ppc64", Int(EM_S390): "s390",
    Int(EM_MIPS): "mips", 258: "loongarch",
  ]
}
