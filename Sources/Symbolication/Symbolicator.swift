import TraceReader

/// Turns program counters into frames.
///
/// A symbolicator caches what it has looked up; it belongs to one thread at a time.
public protocol Symbolicator: AnyObject {
  /// The frames of one program counter, innermost first.
  ///
  /// - Parameters:
  ///   - programCounter: As recorded, not adjusted.
  ///   - image: The image that held the address when the stack was taken; it may be unloaded since.
  ///     `nil` for code in no image.
  ///   - isExact: `false` for a return address: the call is the instruction before it.
  /// - Returns: At least one frame; with nothing but offsets where nothing is known.
  func frames(at programCounter: Address, in image: Image?, isExact: Bool) -> [SymbolicatedFrame]

  /// The symbol of the C++ vtable that begins at an address; `nil` where there is none.
  func vtableSymbol(at address: Address, in image: Image) -> String?

  /// The variable that holds an address; `nil` where none is known.
  func dataSymbol(at address: Address, in image: Image) -> DataSymbol?

  /// The stored properties of a Swift class, without those of its superclass.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - image: The image that defines it.
  /// - Returns: In order of declaration; empty where they are not known.
  func swiftFields(of type: SwiftClassReference, in image: Image) -> [SwiftField]
  /// What lies in each element of an array of Swift.
  ///
  /// - Parameters:
  ///   - name: The whole name of the elements' type.
  ///   - image: Where it may be defined.
  /// - Returns: `nil` where the image does not define it, or does not say.
  func swiftElements(named name: String, in image: Image) -> SwiftElements?

  /// The stored properties of a generic structure of Swift.
  ///
  /// - Parameters:
  ///   - name: The name of the structure, without arguments.
  ///   - image: Where it may be defined.
  /// - Returns: `nil` where the image does not define it.
  func swiftMembers(ofGeneric name: String, in image: Image) -> [SwiftMember]?

  /// How many bytes a value of Swift takes.
  ///
  /// - Parameters:
  ///   - witnesses: The value witnesses of its type.
  ///   - image: The image that holds them.
  /// - Returns: `nil` where its file does not say.
  func swiftValueSize(witnesses: Address, in image: Image) -> UInt64?

  /// The type that the source names where it allocates.
  ///
  /// - Parameters:
  ///   - site: The code that called the allocator.
  ///   - image: The image that holds it.
  /// - Returns: nil when neither the source nor an embedded name is at hand, or it does not tell.
  func allocatedType(at site: AllocationSite, in image: Image) -> TypeName?

  /// The member of a block of C or C++ that may hold a pointer.
  ///
  /// - Parameters:
  ///   - place: Where in which block.
  ///   - address: Code that knows the type, such as that which allocated the block.
  ///   - image: The image that holds the code.
  /// - Returns: nil where it is not known.
  func member(at place: MemberPlace, knownTo address: Address, in image: Image) -> BlockMember?

  /// All members of a structure of C or C++ that may hold pointers.
  ///
  /// - Parameters:
  ///   - name: Its whole name.
  ///   - isCxx: Whether it is one of C++.
  ///   - address: Code that knows it.
  ///   - image: The image that holds the code.
  /// - Returns: nil where it is not known.
  func structure(
    named name: String, isCxx: Bool, knownTo address: Address, in image: Image
  ) -> StructureLayout?

  /// What a function of C returns that does nothing but return a text.
  ///
  /// - Parameters:
  ///   - function: Its symbol.
  ///   - image: The image that defines it.
  /// - Returns: nil where the image has no such function, as far as is known.
  func text(returnedBy function: String, in image: Image) -> ReturnedText?

  /// A line of a source file.
  ///
  /// - Parameter location: The place that a frame names.
  /// - Returns: nil when the file is not at hand, or has changed since the recording.
  func sourceLine(at location: SourceLocation) -> String?

  /// What could not be used and why, one for each image, in the order of first use.
  var warnings: [SymbolicationWarning] { get }
}

extension Symbolicator {
  /// None, unless a symbolicator knows better.
  public func vtableSymbol(at address: Address, in image: Image) -> String? { nil }

  /// None, unless a symbolicator knows better.
  public func dataSymbol(at address: Address, in image: Image) -> DataSymbol? { nil }

  /// None, unless a symbolicator knows better.
  public func allocatedType(at site: AllocationSite, in image: Image) -> TypeName? { nil }

  /// None, unless a symbolicator knows better.
  public func member(
    at place: MemberPlace, knownTo address: Address, in image: Image
  ) -> BlockMember? { nil }

  /// None, unless a symbolicator knows better.
  public func structure(
    named name: String, isCxx: Bool, knownTo address: Address, in image: Image
  ) -> StructureLayout? { nil }

  /// None, unless a symbolicator knows better.
  public func text(returnedBy function: String, in image: Image) -> ReturnedText? { nil }

  /// None, unless a symbolicator knows better.
  public func sourceLine(at location: SourceLocation) -> String? { nil }

  /// None, unless a symbolicator knows better.
  public func swiftFields(of type: SwiftClassReference, in image: Image) -> [SwiftField] { [] }

  /// Knows no elements.
  public func swiftElements(named name: String, in image: Image) -> SwiftElements? { nil }

  /// Knows no members.
  public func swiftMembers(ofGeneric name: String, in image: Image) -> [SwiftMember]? { nil }

  /// Knows no sizes.
  public func swiftValueSize(witnesses: Address, in image: Image) -> UInt64? { nil }
}

/// Says why the names of one image are missing or doubtful.
public struct SymbolicationWarning: Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Reason: Sendable, Hashable {
    /// There is no file at the path now.
    case missingFile
    /// The file cannot be opened or read; the system's reason.
    case unreadable(String)
    /// The file is not ELF, or damaged so that nothing can be read.
    case notELF
    /// The file was replaced since: another build ID. Offsets only.
    case differentBuild(recorded: String, onDisk: String)
    /// The file is newer than the recording and has no build ID to compare.
    case newerThanTrace
  }

  /// Path of the image.
  public let imagePath: String

  /// What is wrong.
  public let reason: Reason

  /// Whether it was looked for in a file system that the user has named.
  public let isInSystemRoot: Bool

  /// Makes a warning.
  public init(imagePath: String, reason: Reason, isInSystemRoot: Bool = false) {
    self.imagePath = imagePath
    self.reason = reason
    self.isInSystemRoot = isInSystemRoot
  }

  /// One line: what, where, and what follows.
  public var description: String {
    switch reason {
    case .missingFile:
      "\(imagePath) is gone: its frames have offsets instead of names"
    case .unreadable(let why):
      "\(imagePath) cannot be read (\(why)): its frames have offsets instead of names"
    case .notELF:
      "\(imagePath) is no ELF file that can be read: its frames have offsets instead of names"
    case .differentBuild(let recorded, let onDisk):
      "\(imagePath) was rebuilt since the recording (build ID \(onDisk.isEmpty ? "none" : onDisk), "
        + "recorded \(recorded.isEmpty ? "none" : recorded)): its frames have offsets instead of names"
    case .newerThanTrace:
      "\(imagePath) is newer than the trace and has no build ID to compare: "
        + "its names may be wrong"
    }
  }
}
