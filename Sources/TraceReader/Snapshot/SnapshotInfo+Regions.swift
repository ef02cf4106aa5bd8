extension SnapshotInfo {
  /// Puts the regions in order and says what each holds.
  mutating func classifyRegions(images: ImageMap) {
    regions.sort { ($0.start, $0.end) < ($1.start, $1.end) }
    // A damaged file may claim regions that overlap: the first one stays.
    var end: UInt64 = 0
    regions.removeAll { region in
      guard region.start >= end else { return true }
      end = region.end
      return false
    }
    let loaded = images.images.filter { $0.wasLoaded(at: time) }
    for position in regions.indices where regions[position].kind != .recorder {
      classify(&regions[position], images: loaded)
    }
    assignThreads()
  }

  private func classify(_ region: inout SnapshotRegion, images: [Image]) {
    // Of two images at one address the later one is there: an unload may not have been seen.
    if let image = images.last(where: { $0.contains(Address(region.start)) }) {
      region.kind = .image
      region.image = Int(image.index)
    } else if let path = region.path {
      region.kind =
        path == "[heap]"
        ? .heap
        : path.hasPrefix("[stack")
          ? .stack
          : path.hasPrefix("[anon") ? .anonymous : path.hasPrefix("[") ? .kernel : .file
    } else {
      region.kind = .anonymous
    }
  }

  /// Finds the regions that hold the stacks and the thread-local variables of the threads.
  private mutating func assignThreads() {
    for thread in threads {
      if let position = SnapshotRegion.position(of: thread.sp, in: regions),
        [.anonymous, .stack, .file].contains(regions[position].kind)
      {
        regions[position].kind = .stack
        regions[position].thread = regions[position].thread ?? thread.thread
      }
    }
    for thread in threads where thread.tlsBase != 0 {
      if let position = SnapshotRegion.position(of: thread.tlsBase, in: regions),
        regions[position].kind == .anonymous
      {
        regions[position].kind = .threadLocal
        regions[position].thread = thread.thread
      }
    }
  }
}
