import Symbolication
import TraceReader

/// Tells what a block of C++ holds from the object that it begins with.
///
/// The first word of `struct Outer { Derived first; long more; }` is that of a `Derived`, as is that of
/// the storage of a `std::vector<Derived>`.
///
/// Found once for each stack and size class and kept. Belongs to one thread at a time.
final class OuterTypes {
  private struct Key: Hashable {
    let stack: StackID
    let sizeClass: SizeClass
    let first: TypeID
  }

  private let stackNames: StackNames
  private let typeNames: TypeNames
  private var known: [Key: TypeName?] = [:]

  /// - Parameters:
  ///   - stackNames: Knows who allocated.
  ///   - typeNames: Knows what first words stand for.
  init(_ stackNames: StackNames, _ typeNames: TypeNames) {
    (self.stackNames, self.typeNames) = (stackNames, typeNames)
  }

  /// The type of a block whose first word names a class.
  ///
  /// A container on the stack says it, else the source and the debug information: a class may have room
  /// behind it that its own `operator new` asks for, so the size alone refutes nothing.
  ///
  /// - Parameters:
  ///   - first: The class.
  ///   - stack: What allocated the block.
  ///   - sizeClass: Of the block.
  ///   - operation: What allocated it.
  /// - Returns: nil where nothing says that the block is of another type.
  func type(
    of first: TypeID, allocatedBy stack: StackID, _ sizeClass: SizeClass, _ operation: Operation
  ) -> TypeName? {
    guard stack != .none else { return nil }
    let key = Key(stack: stack, sizeClass: sizeClass, first: first)
    if let known = known[key] { return known }
    let found = typeNames.name(of: first).flatMap {
      $0.language == .cxx ? find($0, allocatedBy: stack, sizeClass, operation) : nil
    }
    known[key] = .some(found)
    return found
  }

  private func find(
    _ first: TypeName, allocatedBy stack: StackID, _ sizeClass: SizeClass, _ operation: Operation
  ) -> TypeName? {
    let container =
      stackNames.container(of: stack) ?? elements(first, allocatedBy: stack, sizeClass)
    if let container, ContainerNames.beginsWithValue(container.short) { return container }
    guard let named = container ?? stackNames.allocatedType(of: stack, by: operation),
      !isSame(named, first),
      isArray(named, of: first) || fits(named, first, stack, sizeClass)
    else { return nil }
    return named
  }

  /// What a container of the program or of another library has from an allocator of the standard library.
  ///
  /// Where sizes are not known, nobody can tell whether it is more than the object that the block begins with.
  private func elements(
    _ first: TypeName, allocatedBy stack: StackID, _ sizeClass: SizeClass
  ) -> TypeName? {
    guard let found = stackNames.elements(of: stack, sizeClass) else { return nil }
    let mayBeOne =
      found.short == "\(first.short) storage"
      && stackNames.objectSize(of: first.full, allocatedBy: stack) == nil
    return mayBeOne ? nil : found
  }

  private func isSame(_ named: TypeName, _ first: TypeName) -> Bool {
    named.short == first.short || named.full == first.full
  }

  private func isArray(_ named: TypeName, of first: TypeName) -> Bool {
    named.short == first.short + "[]" || named.full == first.full + "[]"
  }

  /// Whether the block can be an object of the type that its allocation names, and those are larger
  /// than the class that its first word names: else that may be another name of the same class.
  private func fits(
    _ named: TypeName, _ first: TypeName, _ stack: StackID, _ sizeClass: SizeClass
  ) -> Bool {
    guard let whole = stackNames.objectSize(of: named.full, allocatedBy: stack),
      SizeClass(containing: whole) == sizeClass,
      let part = stackNames.objectSize(of: first.full, allocatedBy: stack)
    else { return false }
    return part < whole
  }
}
