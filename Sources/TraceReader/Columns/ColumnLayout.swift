import CTraceFormat

/// The columns of an EVENTS chunk in `MT_ENCODING_COLUMNS`, in the order of the file.
enum Column: Int, CaseIterable {
  /// A byte for each event: its operation.
  case operations
  /// Varints: time since the event before.
  case times
  /// A byte for each event with a stack: ``StackCode``.
  case stackCodes
  /// Zigzag varints: stack, less the stack before, where it is not predicted.
  case stacks
  /// Varints: 0 for the size last met with the stack, else the size plus 1.
  case sizes
  /// A byte for each new block: ``PlaceCode``.
  case placeCodes
  /// Varints: address, less the expected one, where no code says it.
  case places
  /// A byte for each block that ends: ``EndCode``.
  case endCodes
  /// Varints: which block, where no code says it.
  case ends
  /// Varints: alignments, and what else few events have.
  case rest
}

/// How a stack is given.
enum StackCode {
  /// What followed last time on the two stacks before.
  static let afterTwo: UInt8 = 0
  /// What followed last time on the stack before.
  static let afterOne: UInt8 = 1
  /// In the column `stacks`.
  static let explicit: UInt8 = 2
}

/// How the address of a new block is given.
enum PlaceCode {
  /// Directly behind the block before.
  static let behind: UInt8 = 0
  /// From here on, that of the block of this lane that was freed last, last but one and so on.
  static let firstRank: UInt8 = 1
  static let ranks = 250
  /// In the column `places`.
  static let explicit: UInt8 = 251
}

/// How the block that ends is given.
enum EndCode {
  /// By its address, in the column `ends`: it began before the chunk.
  static let byAddress: UInt8 = 0
  /// By its order among the blocks of the chunk, in the column `ends`.
  static let byOrder: UInt8 = 1
  /// From here on, the block that began last, last but one and so on.
  static let firstAge: UInt8 = 2
  static let ages = 120
  /// From here on, less ``nearReach``: relative to the block that ended before, in order.
  static let firstNear: UInt8 = 122
  static let nearReach = 67
}

/// Where the columns of a chunk are.
///
/// ```
/// u32 events          as many as the column `operations` has bytes
/// u32[10] lengths     bytes of each column
///     columns, one behind the other, in the order of `Column`
/// ```
struct ColumnLayout {
  static let headerSize = 4 + 4 * Column.allCases.count
  /// More events in one chunk would need too much memory to read.
  static let greatestCount = 1 << 20
  /// A longer chunk is refused.
  static let greatestLength = 16 << 20

  private(set) var count = 0
  /// Where each column begins, and at last where the last one ends; counted from the layout's own
  /// first byte.
  private(set) var bounds: [Int] = []

  /// Reads the layout at the start of a chunk's content.
  ///
  /// - Returns: nil when the columns do not lie within the content.
  init?(_ content: UnsafeRawBufferPointer) {
    var cursor = ByteCursor(content)
    count = Int(cursor.read(UInt32.self))
    var end = Self.headerSize
    bounds = [end]
    for _ in Column.allCases {
      end += Int(cursor.read(UInt32.self))
      bounds.append(end)
    }
    guard !cursor.isPastEnd, end <= content.count, count <= Self.greatestCount,
      count == bounds[1] - bounds[0]
    else { return nil }
  }

  /// The content of a chunk, and where its columns begin in it.
  static func content(of columns: [[UInt8]]) -> (bytes: [UInt8], cuts: [Int]) {
    var (bytes, cuts): ([UInt8], [Int]) = ([], [])
    func add(_ value: Int) {
      withUnsafeBytes(of: UInt32(clamping: value).littleEndian) { bytes += $0 }
    }
    add(columns[Column.operations.rawValue].count)
    columns.forEach { add($0.count) }
    for column in columns {
      cuts.append(bytes.count)
      bytes += column
    }
    return (bytes, cuts)
  }
}
