import TraceReader

/// Adds up live blocks by class.
struct HeapRows {
  private struct Key: Hashable {
    let category: BlockCategory
    let size: UInt64?
  }

  /// All rows, in no order.
  private(set) var rows: [HeapReport.Row] = []
  /// The sum of all blocks.
  private(set) var total: HeapSum
  /// The sizes of all blocks, the greatest first.
  private(set) var sizes: [HeapReport.SizeCount]

  /// Adds up blocks; without the memory of a snapshot their own words are left out.
  init(
    _ blocks: some Sequence<LiveBlock>, in memory: SnapshotMemory?, _ source: ReportSource,
    _ query: HeapQuery, _ sampling: Sampling?
  ) {
    total = HeapSum(sampling)
    var sums: [Key: HeapSum] = [:]
    var counts: [UInt64: UInt64] = [:]
    var images: [Key: ImagesOfRow] = [:]
    for block in blocks {
      let (category, isSeen) = source.categories.category(of: block, in: memory)
      let key = Key(category: category, size: query.separatesSizes ? block.size : nil)
      sums[key, default: HeapSum(sampling)].add(block.ownBytes, isSeen: isSeen)
      if category.isOfStandardLibrary {
        images[key, default: ImagesOfRow()].add(
          source.categories.responsibleImage(of: block.stack))
      }
      total.add(block.ownBytes, isSeen: isSeen)
      counts[block.size, default: 0] &+= 1
    }
    Self.joinNames(&sums)
    rows = sums.map { HeapReport.Row($0.key.category, size: $0.key.size, $0.value, images[$0.key]) }
    sizes = counts.map { size, count in
      let estimate = sampling?.allocations(perSampleOfSize: size, samples: count)
      return HeapReport.SizeCount(size: size, count: estimate ?? count)
    }.sorted { $0.size > $1.size }
  }
}

extension HeapRows {
  /// What one type has in common, wherever its name comes from.
  private struct Name: Hashable {
    let text: String
    let kind: BlockCategory.Kind
    let size: UInt64?

    init(_ key: Key) {
      text = key.category.fullName ?? key.category.name
      (kind, size) = (key.category.kind, key.size)
    }
  }

  /// Adds types of which only the name is known, from a function that allocates for them, to the one of that name
  /// that an image defines.
  private static func joinNames(_ sums: inout [Key: HeapSum]) {
    var defined: [Name: [Key]] = [:]
    for key in sums.keys where key.category.imagePath != nil {
      defined[Name(key), default: []].append(key)
    }
    for key in Array(sums.keys) where key.category.isType && key.category.imagePath == nil {
      guard let others = defined[Name(key)], others.count == 1,
        let sum = sums.removeValue(forKey: key)
      else { continue }
      sums[others[0]]?.add(sum)
    }
  }
}

/// The images that use what no image defines: containers of the standard libraries.
struct ImagesOfRow {
  private var paths: Set<String?> = []

  /// Adds that of a block; nil where it is not known.
  mutating func add(_ path: String?) {
    if paths.count < 2 { paths.insert(path) }
  }

  /// The only one; nil where there are several.
  var only: String? { areSeveral ? nil : paths.first ?? nil }

  /// Whether there are several.
  var areSeveral: Bool { paths.count > 1 }
}

extension BlockCategory {
  /// Whether it is a part of a container, which belongs to whoever uses it: no image defines it.
  fileprivate var isOfStandardLibrary: Bool {
    imagePath == nil && (kind == .type(.cxx) || kind == .type(.rust))
  }
}

/// How many blocks, and how many bytes: exact, or estimates when the blocks are a sample.
struct HeapSum {
  private var exact = (count: UInt64(0), seen: UInt64(0), bytes: UInt64(0))
  private var estimate = (count: 0.0, seen: 0.0, bytes: 0.0)
  private var variance = (count: 0.0, bytes: 0.0)
  private let sampling: Sampling?

  init(_ sampling: Sampling?) {
    self.sampling = sampling
  }

  mutating func add(_ size: UInt64, isSeen: Bool) {
    exact.count &+= 1
    exact.bytes &+= size
    if isSeen { exact.seen &+= 1 }
    guard let sampling else { return }
    let (weight, bytes) = (1 / sampling.probability(ofSize: size), Double(size))
    let added = sampling.countVariance(ofSize: size)
    estimate.count += weight
    estimate.bytes += weight * bytes
    if isSeen { estimate.seen += weight }
    variance.count += added
    variance.bytes += added * bytes * bytes
  }

  /// Adds other blocks.
  mutating func add(_ other: Self) {
    exact = (
      exact.count &+ other.exact.count, exact.seen &+ other.exact.seen,
      exact.bytes &+ other.exact.bytes
    )
    estimate.count += other.estimate.count
    estimate.bytes += other.estimate.bytes
    estimate.seen += other.estimate.seen
    variance.count += other.variance.count
    variance.bytes += other.variance.bytes
  }

  var count: UInt64 { sampling == nil ? exact.count : Self.whole(estimate.count) }
  var bytes: UInt64 { sampling == nil ? exact.bytes : Self.whole(estimate.bytes) }
  /// Those whose own contents tell the type.
  var seenCount: UInt64 { sampling == nil ? exact.seen : Self.whole(estimate.seen) }
  /// nil when the number is exact.
  var countMargin: UInt64? { sampling.map { _ in TallyVariance.wholeMargin(variance.count) } }
  var bytesMargin: UInt64? { sampling.map { _ in TallyVariance.wholeMargin(variance.bytes) } }

  private static func whole(_ value: Double) -> UInt64 {
    UInt64(exactly: min(value, 0x1p63).rounded()) ?? 0
  }
}

extension HeapReport.Row {
  fileprivate init(
    _ category: BlockCategory, size: UInt64?, _ sum: HeapSum, _ images: ImagesOfRow?
  ) {
    let language =
      switch category.kind {
      case .type(let language): language.rawValue
      case .call: category.name.hasPrefix("operator new") ? "C++" : "C"
      case .size: "malloc"
      }
    self.init(
      name: category.name, fullName: category.fullName, language: language,
      isClass: category.isType, image: category.imagePath ?? images?.only,
      isOfSeveralImages: images?.areSeveral ?? false, count: sum.count, bytes: sum.bytes,
      countMargin: sum.countMargin, bytesMargin: sum.bytesMargin, size: size,
      seenCount: sum.seenCount)
  }
}
