import TraceReader

/// One frame of a backtrace with what is known about it.
///
/// Inlined calls have frames of their own, so that one program counter can give several.
public struct SymbolicatedFrame: Sendable, Hashable {
  /// What the frame is to a reader of a report.
  public enum Role: Sendable, Hashable {
    /// Code of the program.
    case user
    /// An allocator function, a language runtime, or a standard library's inner parts.
    case runtime
    /// Another library of the system.
    case system
    /// Not a frame: says that the stack goes on above, or that none was taken.
    case marker
  }

  /// The program counter as it was recorded; a return address unless the frame is exact.
  public let programCounter: Address

  /// The function; `nil` where neither debug information nor a symbol covers the address.
  public let function: FunctionName?

  /// The source line; of the call for all but the innermost frame of inlined ones.
  public let location: SourceLocation?

  /// Whether the compiler inlined this function into the next frame.
  public let isInlined: Bool

  /// Path of the image that holds the code; `nil` for code in no image (JIT).
  public let imagePath: String?

  /// Bytes from the beginning of the image (its lowest ELF address 0), as `addr2line` takes it.
  public let imageOffset: UInt64?

  /// Bytes from the beginning of the function; `nil` for inlined functions.
  public let functionOffset: UInt64?

  /// What the frame is to a reader of a report.
  public let role: Role

  /// Whether the function comes from a Swift macro: the compiler gives its lines in a file that is
  /// nowhere but in the debug information, `@__swiftmacro_3app5Model10ObservablefMm_.swift`.
  let isMacroExpansion: Bool

  /// Whether the code is a library's of the system; as the two below asked of each frame of each stack, and
  /// therefore looked up once.
  let isOfSystemImage: Bool

  /// Whether the code is the C library's, or in no image with a path.
  let isOfCLibrary: Bool

  /// Whether it is a function of a library that allocates what others ask for: `g_malloc`, `xmlStrdup`.
  let isLibraryAllocator: Bool

  /// Whether it is a function of a container that a library has compiled into the program.
  let isLibraryContainer: Bool

  /// Whether it is a function of the program that allocates what others ask for, or frees it: `my_malloc`, `my_free`.
  let isAllocationWrapper: Bool

  /// Whether it makes an object of a class of Swift: `Node.__allocating_init()`.
  let isAllocatingInitializer: Bool

  /// The text of a marker; `nil` for frames.
  public let markerText: String?

  /// Makes a frame; its role follows from the function and the image.
  ///
  /// Whether it is an allocation wrapper debug information tells, its name where there is none.
  public init(
    programCounter: Address, function: FunctionName? = nil, location: SourceLocation? = nil,
    isInlined: Bool = false, imagePath: String? = nil, imageOffset: UInt64? = nil,
    functionOffset: UInt64? = nil, isAllocationWrapper: Bool = false
  ) {
    self.programCounter = programCounter
    self.function = function
    self.location = location
    self.isInlined = isInlined
    self.imagePath = imagePath
    self.imageOffset = imageOffset
    self.functionOffset = functionOffset
    self.role = FrameClassifier.role(
      of: function, inImageAt: imagePath, compiledFrom: location?.path)
    isMacroExpansion = location.map { Self.isOfMacro($0.path) } ?? false
    isOfSystemImage = imagePath.map(FrameClassifier.isSystemImage) ?? false
    isOfCLibrary = imagePath.map(FrameClassifier.isCLibraryOrNone) ?? true
    isLibraryAllocator = role != .user && function.map(RuntimeNames.isLibraryAllocator) == true
    isLibraryContainer =
      role == .user
      && function.map { $0.language == .cxx && ContainerLibraries.own($0.base) } == true
    self.isAllocationWrapper =
      role == .user
      && (isAllocationWrapper
        || location == nil && function.map(AllocationWrapperNames.isOne) == true)
    isAllocatingInitializer = function.map(SwiftNames.isAllocatingInitializer) == true
    self.markerText = nil
  }

  /// Makes a marker, for example `<callers not known>`.
  public init(marker text: String) {
    programCounter = Address(rawValue: 0)
    function = nil
    location = nil
    isInlined = false
    imagePath = nil
    imageOffset = nil
    functionOffset = nil
    role = .marker
    isMacroExpansion = false
    isOfSystemImage = false
    isOfCLibrary = true
    isLibraryAllocator = false
    isLibraryContainer = false
    isAllocationWrapper = false
    isAllocatingInitializer = false
    markerText = text
  }

  /// The last component of the image's path; `nil` for code in no image.
  public var imageName: String? {
    guard let imagePath else { return nil }
    guard let slash = imagePath.utf8.lastIndex(of: UInt8(ascii: "/")) else { return imagePath }
    return String(imagePath[imagePath.index(after: slash)...])
  }

  /// Whether whoever calls the function is meant by what it allocates.
  var allocatesForOthers: Bool { isMacroExpansion || isLibraryContainer || isAllocationWrapper }

  /// Whether source and debug information of the program tell what the code allocates: its own, and that of headers
  /// of libraries.
  var isCompiledIn: Bool {
    role == .user
      || role == .system && location.map { FrameClassifier.isSystemHeader($0.path) } == true
  }

  private static func isOfMacro(_ path: String) -> Bool {
    path.hasPrefix("@__swiftmacro_") || TextSearch.holds(path, "/@__swiftmacro_")
  }

  /// The name to print: the short function name, else `image+0xoffset`, else the address.
  public var displayName: String { name(function?.short) }

  /// As ``displayName``, with the whole demangled name.
  public var fullDisplayName: String { name(function?.full) }

  /// As ``displayName``, without parameters.
  public var baseName: String { name(function?.base) }

  private func name(_ spelling: String?) -> String {
    if let markerText { return markerText }
    if let spelling { return spelling }
    if let imageName, let imageOffset {
      return "\(imageName)+0x\(String(imageOffset, radix: 16))"
    }
    return "0x\(String(programCounter.rawValue, radix: 16))"
  }
}
