import TraceReader

/// Pointers into the middle of a block that are as good as pointers to its beginning.
///
/// The same cases as in Valgrind's `--leak-check-heuristics`, as far as a snapshot can tell them.
enum InteriorPointers {
  /// A C++ array whose elements have destructors: the block begins with their number.
  static func isArray(_ offset: UInt64, of operation: Operation) -> Bool {
    switch operation.family {
    case .newArray: offset == 8
    case .newArrayAligned: offset == 16 || offset == 32 || offset == 64
    default: false
    }
  }

  /// An object of C++ seen as one of its further bases: both have a table of virtual functions.
  ///
  /// Or the first object of an array that comes from an `operator new[]` of its class, as those of
  /// ICU do: what is in front of it is their number.
  static func isBase(at offset: UInt64, of address: UInt64, _ memory: SnapshotMemory) -> Bool {
    guard offset & 7 == 0, offset < 1 << 12 else { return false }
    let first = memory.word(at: address)
    guard isVirtualTable(first, memory) || (offset == 8 && first <= UInt32.max) else {
      return false
    }
    return isVirtualTable(memory.word(at: address &+ offset), memory)
  }

  /// Whether a word is where a `UnicodeString` of ICU has its text, which shares a block with a count in front of it.
  ///
  /// ```
  /// +0 table of virtual functions   +8 flags (u16)   +12 length   +16 capacity   +24 text
  /// block of the text               +0 count (u32)   +4 text
  /// ```
  /// Such a pointer is at no multiple of 8, where nothing else of a program's own begins.
  /// Source: `icu4c/source/common/unicode/unistr.h` of the ICU repository.
  static func isCountedText(
    _ value: UInt64, in text: UInt64, from address: UInt64, inBlockAt start: UInt64,
    _ memory: SnapshotMemory
  ) -> Bool {
    value &- text == 4 && address &- start >= 24
      && isVirtualTable(memory.word(at: address &- 24), memory)
  }

  /// An exception of C++ behind its header, or the header: `std::exception_ptr` has the exception, the thread that
  /// handles it has the header, and what unwinds the stack has the header's end.
  ///
  /// ```
  /// +16 type information   +24 destructor   +32, +40 handlers of std::unexpected and std::terminate
  /// +88 the exception as the handler sees it   +96 class   +104 cleanup   +128 exception
  /// ```
  /// That is where they are with libstdc++, whose header begins 16 bytes into the block, and with libc++abi.
  /// Source: `__cxa_refcounted_exception` in `unwind-cxx.h` of libstdc++, `__cxa_exception` in `cxa_exception.h` of
  /// libc++abi.
  static func isException(
    at offset: UInt64, ofBlockAt address: UInt64, size: UInt64, _ memory: SnapshotMemory
  ) -> Bool {
    guard offset == 16 || offset == 96 || offset == exceptionOffset, size > exceptionOffset else {
      return false
    }
    let destructor = memory.word(at: address &+ 24)
    let adjusted = memory.word(at: address &+ 88)
    return [32, 40, 104].allSatisfy { isCode(memory.word(at: address &+ $0), memory) }
      && isImageData(memory.word(at: address &+ 16), memory)
      && (destructor == 0 || isCode(destructor, memory))
      && (adjusted == 0 || (adjusted >= address &+ exceptionOffset && adjusted &- address < size))
  }

  /// Where an exception of C++ lies in its block.
  static let exceptionOffset: UInt64 = 128

  /// An object behind a header of its language's runtime: of Python behind the links of the garbage
  /// collector, an instance of GObject behind its private data.
  static func isObject(
    at offset: UInt64, ofBlockAt address: UInt64, size: UInt64, _ memory: SnapshotMemory
  ) -> Bool {
    guard offset & 15 == 0 else { return false }
    return memory.isGObject(at: address &+ offset)
      || memory.pythonObject(inBlockAt: address, size: size)?.offset == offset
  }

  /// The characters of a text of Python, which extensions keep the address of: behind the header of a `str` of ASCII
  /// (48 bytes, 40 since Python 3.12), or of `bytes`.
  ///
  /// So NumPy documents its functions, by texts that it never gives back.
  /// Source: `PyASCIIObject` in `Include/cpython/unicodeobject.h`, `PyBytesObject` in
  /// `Include/cpython/bytesobject.h` of CPython.
  static func isPythonText(
    at offset: UInt64, ofBlockAt address: UInt64, size: UInt64, _ memory: SnapshotMemory
  ) -> Bool {
    guard offset == 32 || offset == 40 || offset == 48,
      let object = memory.pythonObject(inBlockAt: address, size: size), object.offset == 0
    else { return false }
    return object.className == (offset == 32 ? "bytes" : "str")
  }

  /// Whether a word is where a hash table of Abseil has its control bytes, in a block in which the next word leads to
  /// its elements.
  ///
  /// ```
  /// block of the table   +0 room left   +8 (or +16, where tables are sampled) control bytes   elements, aligned
  /// ```
  /// Of a capacity *n*, which is a power of two less one, there are *n* + 1 control bytes, and as many more as a group
  /// has but one; *n* elements fill the rest.
  /// Source: `HeapPtrs` and `RawHashSetLayout` in `absl/container/internal/raw_hash_set.h`.
  static func isAbseilTable(
    _ value: UInt64, from address: UInt64, inBlockAt start: UInt64, size: UInt64,
    _ memory: SnapshotMemory
  ) -> Bool {
    let control = value &- start
    guard control == 8 || control == 16 else { return false }
    let elements = memory.word(at: address &+ 8) &- start
    guard elements > control, elements < size else { return false }
    let (bytes, rest) = (elements - control, size - elements)
    var capacity: UInt64 = 1
    while capacity < bytes, capacity <= rest {
      for group: UInt64 in [8, 16] where bytes >= capacity + group {
        let padding = bytes - capacity - group
        if padding < greatestAlignment, rest % capacity < greatestAlignment { return true }
      }
      capacity = capacity << 1 | 1
    }
    return false
  }

  /// What no element of a hash table is aligned to more than.
  private static let greatestAlignment: UInt64 = 16

  /// Anything in the frame of a coroutine of C++, which begins with the addresses of the functions that resume
  /// and destroy it: its promise, and variables, to which others point as to those on a stack.
  static func isCoroutine(at address: UInt64, _ memory: SnapshotMemory) -> Bool {
    isCode(memory.word(at: address), memory) && isCode(memory.word(at: address &+ 8), memory)
  }

  /// Anything in a slab of GLib's slice allocator (until 2.76): what it hands out are parts of the slab,
  /// and it finds the slab of a part by its address.
  ///
  /// The description at a slab's end is linked with those of its neighbors in a ring.
  static func isSlice(
    ofBlockAt address: UInt64, size: UInt64, _ operation: Operation, _ memory: SnapshotMemory
  ) -> Bool {
    guard operation.hasAlignment, (112..<1 << 20).contains(size) else { return false }
    let alignment = size &+ 16
    guard alignment & (alignment &- 1) == 0, address & (alignment &- 1) == 0 else { return false }
    let description = address &+ (size &- 32)
    let next = memory.word(at: description &+ 16)
    let previous = memory.word(at: description &+ 24)
    guard next != 0, previous != 0 else { return false }
    return memory.word(at: next &+ 24) == description
      && memory.word(at: previous &+ 16) == description
  }

  /// A link of a list that lies inside of its elements, as `list_head` of Linux, `wl_list` of Wayland, and lists of
  /// `boost::intrusive`: what is in front of it leads to it, and what is behind it leads back.
  ///
  /// ```
  /// +0 next link, or null   +8 previous link, or what leads to this one
  /// ```
  /// With the two words the other way round it is the same, seen from the other end.
  static func isListLink(at address: UInt64, _ memory: SnapshotMemory) -> Bool {
    let previous = memory.word(at: address &+ 8)
    guard address & 7 == 0, previous != 0, previous != address, previous & 7 == 0,
      memory.word(at: previous) == address
    else { return false }
    let next = memory.word(at: address)
    return next == 0 || (next & 7 == 0 && memory.word(at: next &+ 8) == address)
  }

  /// The end of a buffer of `std::pmr::monotonic_buffer_resource`, where libstdc++ keeps its size and the previous
  /// buffer: the resource holds its buffers by these.
  ///
  /// ```
  /// -16 size, and the logarithm of the alignment   -8 the same of the previous buffer, or null
  /// ```
  /// Source: `monotonic_buffer_resource::_Chunk` in `memory_resource.cc` of libstdc++.
  static func isMonotonicBuffer(
    at offset: UInt64, ofBlockAt address: UInt64, size: UInt64, _ operation: Operation,
    _ memory: SnapshotMemory
  ) -> Bool {
    guard operation.family == .newAligned, size >= 32, offset == size &- 16 else { return false }
    let previous = memory.word(at: address &+ offset &+ 8)
    return memory.region(containing: memory.word(at: address &+ offset)) == nil
      && (previous == 0 || memory.region(containing: previous).map { $0.kind != .image } == true)
  }

  /// Memory that the program has aligned itself, in a block with room for that: in front of what it uses it keeps
  /// the address of the block, in order to free it.
  ///
  /// ```
  /// +0 unused   -8 address of the block   aligned memory
  /// ```
  /// So do Eigen, where `malloc` does not align for its vectors, and `aligned_alloc` of Boost. In front of whole pages
  /// there may be more words between, as in OCaml's heap.
  static func isAligned(at offset: UInt64, of address: UInt64, _ memory: SnapshotMemory) -> Bool {
    guard offset & 7 == 0, offset >= 8 else { return false }
    let place = address &+ offset
    if place & 15 == 0, memory.word(at: place &- 8) == address { return true }
    guard place & 4095 == 0, offset < 8192 else { return false }
    return stride(from: min(offset, 64), to: 8, by: -8).contains {
      memory.word(at: place &- $0) == address
    }
  }

  /// Whether a word points into the code of an image.
  static func isCode(_ word: UInt64, _ memory: SnapshotMemory) -> Bool {
    guard word != 0, let region = memory.region(containing: word) else { return false }
    return region.kind == .image && region.protection.contains(.execute)
  }

  /// Whether a word points to a word in data of an image.
  private static func isImageData(_ word: UInt64, _ memory: SnapshotMemory) -> Bool {
    guard word & 7 == 0, word != 0, let region = memory.region(containing: word) else {
      return false
    }
    return region.kind == .image && !region.protection.contains(.execute)
  }

  /// Whether a word points into data of an image that is not to be written: where tables of virtual
  /// functions are after relocation.
  static func isVirtualTable(_ word: UInt64, _ memory: SnapshotMemory) -> Bool {
    guard word & 7 == 0, word != 0 else { return false }
    guard let region = memory.region(containing: word) else { return false }
    return region.kind == .image && region.protection == .read
  }
}
