import LeakAnalysis
import Symbolication
import TraceReader

/// Names the blocks of a heap and what is in them.
///
/// Belongs to one thread at a time.
public protocol TypeNaming: AnyObject {
  /// The type of a block, also one that only the source line tells; else its size.
  func category(of block: Int, in heap: HeapImage) -> BlockCategory

  /// The same, but who called the allocator in place of the size.
  func detailedCategory(of block: Int, in heap: HeapImage) -> BlockCategory

  /// The field that lies at an offset of a block; nil where that is not known.
  func field(at offset: UInt64, of block: Int, in heap: HeapImage) -> String?

  /// Whether the field at an offset does not keep what it points to, as far as that is known.
  func isWeak(at offset: UInt64, of block: Int, in heap: HeapImage) -> Bool

  /// Whether the field at an offset is known to be one that what it points to counts.
  func isCounted(at offset: UInt64, of block: Int, in heap: HeapImage) -> Bool

  /// Whether no field can be at an offset, as far as that is known: what stands there was there before the block.
  func isUnused(at offset: UInt64, of block: Int, in heap: HeapImage) -> Bool

  /// Whether what begins with a word is a task of Swift.
  func isTask(_ word: UInt64) -> Bool
}

/// Names blocks by their first word in the snapshot, else by the stack that allocated them.
final class SnapshotTypeNames: TypeNaming {
  private let categories: BlockCategories
  private let layouts: SwiftLayouts
  private let names: StackNames
  private var members: [MemberKey: BlockMember?] = [:]

  private struct MemberKey: Hashable {
    let place: MemberPlace
    let stack: StackID
  }

  init(_ source: ReportSource) {
    categories = source.categories
    names = source.names
    layouts = source.layouts
  }

  func category(of block: Int, in heap: HeapImage) -> BlockCategory {
    let category = detailedCategory(of: block, in: heap)
    if case .call = category.kind {
      return BlockCategory(
        SizeClass(containing: heap.blocks.size(of: block)), heap.blocks.site(of: block).operation)
    }
    return category
  }

  func detailedCategory(of block: Int, in heap: HeapImage) -> BlockCategory {
    categories.category(of: heap.blocks.liveBlock(block), in: heap.memory).category
  }

  func field(at offset: UInt64, of block: Int, in heap: HeapImage) -> String? {
    let address = heap.blocks.address(of: block)
    let word = heap.memory.word(at: address)
    return layouts.field(at: offset, ofWord: word, memory: heap.memory.word)?.name
      ?? element(at: offset, of: block, in: heap)
      ?? slot(at: offset, of: block, in: heap)
      ?? treeMember(at: offset, of: block, in: heap)
      ?? layouts.managedElement(at: offset, ofWord: word, memory: heap.memory.word)
      ?? layouts.captured(
        at: offset, ofWord: word, content: heap.memory.word(at: address &+ 16),
        size: heap.blocks.size(of: block))
      ?? member(at: offset, of: block, in: heap).flatMap { $0.name.isEmpty ? nil : $0.name }
  }

  func isWeak(at offset: UInt64, of block: Int, in heap: HeapImage) -> Bool {
    member(at: offset, of: block, in: heap)?.isWeak ?? false
  }

  func isCounted(at offset: UInt64, of block: Int, in heap: HeapImage) -> Bool {
    member(at: offset, of: block, in: heap)?.isCounted ?? false
  }

  func isUnused(at offset: UInt64, of block: Int, in heap: HeapImage) -> Bool {
    member(at: offset, of: block, in: heap)?.isUnused ?? false
  }

  func isTask(_ word: UInt64) -> Bool { layouts.isTask(word) }

  /// The member of a structure of C, C++ or Rust.
  private func member(at offset: UInt64, of block: Int, in heap: HeapImage) -> BlockMember? {
    let category = detailedCategory(of: block, in: heap)
    let (name, size) = (category.fullName ?? category.name, heap.blocks.size(of: block))
    let place: MemberPlace? =
      switch category.kind {
      case .type(.c): MemberPlace(type: name, isCxx: false, size: size, offset: offset)
      case .type(.cxx): MemberPlace(type: name, isCxx: true, size: size, offset: offset)
      case .type(.rust): MemberPlace(rust: name, size: size, offset: offset)
      default: nil
      }
    guard let place else { return nil }
    let key = MemberKey(place: place, stack: heap.blocks.site(of: block).stack)
    if let known = members[key] { return known }
    let member = names.member(at: key.place, allocatedBy: key.stack)
    members[key] = .some(member)
    return member
  }
}

extension SnapshotTypeNames {
  /// The element of an array or a set, the key or the value of a dictionary, with its property.
  private func element(at offset: UInt64, of block: Int, in heap: HeapImage) -> String? {
    let address = heap.blocks.address(of: block)
    let word = heap.memory.word(at: address)
    let form: SwiftTable.Form? =
      layouts.isDictionary(word) ? .dictionary : layouts.isSet(word) ? .set : nil
    guard let form else { return layouts.elements(ofWord: word)?.name(at: offset) }
    let (size, keys) = (heap.blocks.size(of: block), layouts.keys(ofWord: word))
    let table = SwiftTable(form, at: address, size: size, heap.memory)
    switch table?.place(of: address &+ offset, keyStride: keys?.stride) {
    case .value(let offset):
      return "value" + (layouts.elements(ofWord: word)?.property(at: offset) ?? "")
    case .key(let offset):
      let property = offset.flatMap { keys?.property(at: $0) } ?? ""
      return (form == .set ? "element" : "key") + property
    case nil: return nil
    }
  }
}

extension SnapshotTypeNames {
  /// The element of a deque by its place in it, with its property.
  private func slot(at offset: UInt64, of block: Int, in heap: HeapImage) -> String? {
    let (address, read) = (heap.blocks.address(of: block), heap.memory.word)
    guard let deque = layouts.deque(ofWord: read(address), memory: read),
      offset >= deque.start, let header = SwiftDeque(at: address, read),
      let place = deque.elements.place(of: offset - deque.start)
    else { return nil }
    return "[\(header.index(ofSlot: place.index))]" + deque.elements.property(at: place.offset)
  }
}

extension SnapshotTypeNames {
  /// The child of a node of a `TreeDictionary` or `TreeSet`, its key, value or element, with its property.
  private func treeMember(at offset: UInt64, of block: Int, in heap: HeapImage) -> String? {
    let (address, read) = (heap.blocks.address(of: block), heap.memory.word)
    guard layouts.isTreeNode(read(address), memory: read),
      let node = SwiftTreeNode(at: address, read)
    else { return nil }
    return switch node.place(of: offset) {
    case .child(let number): "children[\(number)]"
    case .item(let number, let rest):
      layouts.treeItem(at: rest, ofWord: read(address), stride: node.itemStride)
        ?? "items[\(number)]"
    case nil: nil
    }
  }
}

/// What trees call a block: `<Parent 0x55d0>`, `<malloc in parse 0x55d0>`, `0x55d0`.
struct BlockLabels {
  let heap: HeapImage
  let types: any TypeNaming
  let names: StackNames

  /// The type, else the function and its responsible caller; nil where nothing is known.
  func name(of block: Int) -> String? {
    let category = types.category(of: block, in: heap)
    if case .type = category.kind { return category.name }
    let site = heap.blocks.site(of: block)
    guard let frame = names.responsible(of: site.stack), frame.role != .marker else { return nil }
    return "\(site.operation.blockName) in \(frame.name)"
  }

  /// Name and address: `<Parent 0x55d0>`, `0x55d0`.
  func text(of block: Int) -> String {
    let address = HexText.of(heap.blocks.address(of: block))
    return name(of: block).map { "<\($0) \(address)>" } ?? address
  }
}

extension BlockLabels {
  /// Where a task of Swift waits; nil for other blocks, and for a task that runs or is done.
  ///
  /// Tasks of `async let` lie in slabs of the task that waits for them: of such a slab, where the first of these waits.
  func suspension(of block: Int) -> ReportFrame? {
    tasks(in: block).lazy.map(heap.memory.codeOfSuspendedTask).first { !$0.isEmpty }.flatMap {
      names.responsible(ofCodeAt: $0, at: heap.info.time)
    }
  }

  private func tasks(in block: Int) -> [UInt64] {
    let start = heap.blocks.address(of: block)
    if types.isTask(heap.memory.word(at: start)) { return [start] }
    let used = heap.memory.usedSizeOfTaskSlab(at: start, size: heap.blocks.size(of: block))
    guard let used else { return [] }
    var found: [UInt64] = []
    heap.memory.forEachWord(in: start..<start &+ used) { address, word in
      if types.isTask(word) { found.append(address) }
    }
    return found
  }

  /// The references to a Swift object; nil for other blocks.
  func counts(of block: Int) -> ObjectCounts? {
    guard types.category(of: block, in: heap).hasSwiftCounts else { return nil }
    return ObjectCounts(at: heap.blocks.address(of: block), in: heap.memory)
  }
}

/// Numbers of bytes as `leaks` of macOS writes them: `16 bytes`, `1.45K`, `44.0K`, `153K`.
enum LeakBytes {
  static func text(_ bytes: UInt64, _ style: ByteStyle) -> String {
    if bytes < 1024 || style == .exact { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
    var value = Double(bytes)
    var unit = 0
    while value >= 1023.5, unit + 1 < units.count {
      value /= 1024
      unit += 1
    }
    return decimal(value) + units[unit]
  }

  private static let units = ["", "K", "M", "G", "T", "P", "E"]

  /// Three significant digits.
  private static func decimal(_ value: Double) -> String {
    let scale: Double = value < 9.995 ? 100 : value < 99.95 ? 10 : 1
    let digits = UInt64((value * scale).rounded())
    if scale == 1 { return String(digits) }
    let unit = UInt64(scale)
    let rest = String(digits % unit).leftPadded(to: unit == 100 ? 2 : 1, with: "0")
    return "\(digits / unit).\(rest)"
  }
}
