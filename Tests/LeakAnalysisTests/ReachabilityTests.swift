import CTraceFormat
import LeakAnalysis
import Testing
import TraceReader

@Suite("What can be reached")
struct ReachabilityTests {
  @Test("A block that nothing points to is a leak; one that a variable points to is not")
  func leakAndNoLeak() throws {
    var heap = SampleHeap()
    let held = heap.block()
    let lost = heap.block()
    heap.set(SampleHeap.globals + 0x10, held)
    let analysis = try heap.analysis()
    #expect(analysis.leaked == [lost])
    #expect(analysis.rootKind(at: held) == .global(image: 0))
    let block = try #require(analysis.heap.blocks.block(at: held))
    let path = try #require(analysis.reachability.path(to: block))
    #expect(path.slot.address == SampleHeap.globals + 0x10)
    #expect(path.blocks == [block])
  }

  @Test("The shortest way to a root is found, by pointers to beginnings alone where there is one")
  func shortestWays() throws {
    var heap = SampleHeap()
    let (near, far, middle, last) = (heap.block(), heap.block(), heap.block(), heap.block())
    let (possible, lost, below) = (heap.block(), heap.block(), heap.block())
    let globals = SampleHeap.globals
    heap.set(globals, far, near + 20)
    heap.set(globals + 0x40, near, possible + 16)
    heap.set(far, middle)
    heap.set(middle, last)
    heap.set(near + 8, last + 20, last)
    heap.set(last, near, far, lost + 8)
    heap.set(lost, below)
    heap.set(below, lost)
    let analysis = try heap.analysis()
    let blocks = analysis.heap.blocks
    /// The addresses of the words on the way.
    func words(_ address: UInt64) throws -> [UInt64] {
      let block = try #require(blocks.block(at: address))
      return ShortestWay(to: block, in: analysis).holders.map {
        switch $0.holder {
        case .root(let slot): slot.address
        case .block(let block): blocks.address(of: block) + $0.offset
        }
      }
    }
    #expect(try words(near) == [globals + 0x40])
    #expect(try words(last) == [near + 16, globals + 0x40])
    #expect(try words(middle) == [far, globals])
    #expect(try words(possible) == [globals + 0x48])
    #expect(try words(below) == [lost, last + 16, near + 16, globals + 0x40])
  }

  /// Whether what a word leads to that stands two words behind the address of the word in front of it is doubtful.
  private func isDoubtful(length: UInt64, text: UInt64) throws -> Bool {
    var heap = SampleHeap()
    let (holder, target) = (heap.block(), heap.block())
    heap.set(SampleHeap.globals, holder)
    heap.set(holder, holder + 16, length, text, target)
    let analysis = try heap.analysis()
    #expect(analysis.leaked.isEmpty)
    return analysis.reachability.count(of: .possible) == 1
  }

  @Test(
    "What stands behind the text of a short string is doubtful",
    arguments: [
      (3, 0x0063_6261), (3, 0x5555_0063_6261), (7, 0x0067_6665_6463_6261), (2, 0xa9c3), (2, 0x0a61),
    ] as [(UInt64, UInt64)])
  func shortStrings(_ length: UInt64, _ text: UInt64) throws {
    #expect(try isDoubtful(length: length, text: text))
  }

  @Test(
    "Elements that lie in their array are none of a string",
    arguments: [
      // With a capacity; no text; one character; other lengths; control characters; not known; pointers.
      (2 << 32 | 2, 0x6261), (0, 0), (1, 0x41), (4, 0x0063_6261), (2, 0x0063_6261), (16, 0x6261),
      (2, 0x0161), (2, 0x7f61), (3, 0), (2, SampleHeap.heap + 0x4141),
      (6, SampleHeap.mapping + 0x4141),
    ] as [(UInt64, UInt64)])
  func elementsInside(_ length: UInt64, _ text: UInt64) throws {
    #expect(try !isDoubtful(length: length, text: text))
  }

  @Test("Nothing leads to a leak")
  func noWays() throws {
    var heap = SampleHeap()
    let (lost, below) = (heap.block(), heap.block())
    heap.set(lost, below)
    let analysis = try heap.analysis()
    for block in 0..<2 { #expect(ShortestWay(to: block, in: analysis).holders == []) }
  }

  @Test(
    "What is left in the buffer of a stream holds nothing, nor in other blocks for bytes or code")
  func pointerlessBlocks() throws {
    var heap = SampleHeap()
    let buffer = heap.block(4096)
    let other = heap.block(4104)
    let lost = heap.block()
    let held = heap.block()
    heap.set(SampleHeap.globals, buffer, other)
    heap.set(buffer + 512, lost)
    heap.set(other + 512, held)
    #expect(try heap.analysis(allocatesNoPointers: true).leaked == [lost])
    #expect(try heap.analysis().leaked == [])
  }

  @Test("What leaked blocks lead to may be a possible leak, too")
  func possibleLeaksOfLeakedBlocks() throws {
    var heap = SampleHeap()
    let (leaked, other) = (heap.block(), heap.block())
    let (first, second, inside, held) = (heap.block(), heap.block(), heap.block(), heap.block())
    heap.set(leaked, first, held, inside + 20)
    heap.set(first, second)
    heap.set(second, first)
    heap.set(other, inside)
    heap.set(SampleHeap.globals, first + 8, inside + 8, held)
    let analysis = try heap.analysis()
    #expect(analysis.leaked == [leaked, other])
    let blocks = analysis.heap.blocks
    func found(_ address: UInt64) throws -> [UInt64] {
      let block = try #require(blocks.block(at: address))
      return analysis.possibleLeaks(heldBy: [UInt32(block)]).map { blocks.address(of: Int($0)) }
        .sorted()
    }
    let (ofLeaked, ofOther) = (try found(leaked), try found(other))
    #expect(ofLeaked == [first, second])
    #expect(ofOther == [inside])
  }

  @Test("Rust holds the table of a HashMap by its control bytes, and what it shares by the value")
  func rustInteriors() throws {
    let (map, shared) = (StackID(2), StackID(3))
    var heap = SampleHeap()
    // Eight buckets of 24 bytes, and four of 8.
    let table = heap.block(192 + 8 + 16, stack: map)
    let small = heap.block(32 + 4 + 16, stack: map)
    let waker = heap.block(40, stack: shared)
    let values = (0..<3).map { _ in heap.block() }
    heap.set(table + 8, values[0])
    heap.set(small, table + 192)
    heap.set(waker + 16, values[1])
    heap.set(SampleHeap.globals, small + 32, waker + 16)
    let inside = heap.block(192 + 8 + 16, stack: map)
    let counts = heap.block(40, stack: shared)
    heap.set(SampleHeap.globals + 16, inside + 176, counts + 8)
    func analysis(_ heap: SampleHeap) throws -> LeakAnalysis {
      try heap.analysis(countsReferences: { $0 == shared }, isHashTable: { $0 == map })
    }
    let known = try analysis(heap)
    #expect(known.leaked == [values[2]])
    let held = [table, small, waker, values[0], values[1]]
    #expect(held.map(known.state) == held.map { _ in .reached })
    #expect([inside, counts].map(known.state) == [.possible, .possible])
    let unknown = try heap.analysis()
    #expect(held.map(unknown.state) == held.map { _ in .possible })
    heap.set(SampleHeap.globals, 0, 0)
    heap.set(values[0], small + 32)
    #expect(try analysis(heap).roots == [table, waker, values[2]])
  }

  @Test("Each kind of root holds")
  func roots() throws {
    var heap = SampleHeap(registers: [0, SampleHeap.heap + 16])
    let byRegister = heap.block()
    let byStack = heap.block()
    let byMapping = heap.block()
    let byThreadLocal = heap.block()
    heap.set(SampleHeap.stackPointer + 0x20, byStack)
    heap.set(SampleHeap.mapping + 0x100, byMapping)
    heap.set(SampleHeap.threadPointer - 0x40, byThreadLocal)
    let analysis = try heap.analysis()
    #expect(analysis.leaked == [])
    #expect(analysis.rootKind(at: byRegister) == .registers(thread: 1))
    #expect(analysis.rootKind(at: byStack) == .stack(thread: 1))
    #expect(analysis.rootKind(at: byMapping) == .mapping(path: nil))
    #expect(analysis.rootKind(at: byThreadLocal) == .threadLocal(thread: 1))
  }

  @Test("The kernel holds the stack for signal handlers; what these left there holds nothing")
  func signalStack() throws {
    var heap = SampleHeap()
    let block = heap.block(256)
    let left = heap.block()
    heap.set(block + 32, left)
    // Aligned by the program, which keeps the address for itself.
    heap.snapshot.threads[0].signalStack = block + 16..<block + 240
    let analysis = try heap.analysis()
    #expect(analysis.leaked == [left])
    #expect(analysis.state(at: block) == .reached)
    #expect(analysis.rootKind(at: block) == .signalStack(thread: 1))
  }

  @Test("What the program gave to the kernel comes back")
  func kernelWords() throws {
    var heap = SampleHeap()
    let first = heap.block(32)
    let next = heap.block(32)
    let middle = heap.block(64)
    heap.set(first, next)
    heap.snapshot.kernelWords = [(first, 1, 5), (middle + 24, 2, 0)]
    let analysis = try heap.analysis()
    #expect(analysis.leaked.isEmpty)
    #expect(analysis.state(at: next) == .reached)
    #expect(analysis.rootKind(at: first) == .kernel)
    #expect(analysis.state(at: middle) == .possible)
  }

  @Test("A handler that runs keeps what is on its stack")
  func handlerOnSignalStack() throws {
    var heap = SampleHeap()
    let block = heap.block(1024)
    let left = heap.block()
    let held = heap.block()
    heap.set(block + 32, left)
    heap.set(block + 800, held)
    heap.snapshot.threads[0].signalStack = block..<block + 1024
    heap.snapshot.threads[0].sp = block + 512
    #expect(try heap.analysis().leaked == [left])
  }

  @Test("A signal stack that was freed and is part of other blocks now says nothing")
  func freedSignalStack() throws {
    var heap = SampleHeap()
    let first = heap.block()
    let second = heap.block()
    heap.snapshot.threads[0].signalStack = first..<second + 16
    #expect(try heap.analysis().leaked == [first, second])
  }

  @Test("The red zone below the stack pointer is alive, what is further below is not")
  func deadStack() throws {
    var heap = SampleHeap()
    let alive = heap.block()
    let dead = heap.block()
    heap.set(SampleHeap.stackPointer - 128, alive)
    heap.set(SampleHeap.stackPointer - 136, dead)
    #expect(try heap.analysis().leaked == [dead])
  }

  @Test("What is left of freed blocks holds nothing")
  func freedMemory() throws {
    var heap = SampleHeap()
    let lost = heap.block()
    heap.set(lost + 64, lost)
    #expect(try heap.analysis().leaked == [lost])
  }

  @Test("In a forked child, heap that the trace does not know may hold blocks")
  func inheritedHeap() throws {
    var heap = SampleHeap()
    heap.trace.header.flags.insert(.forked)
    let block = heap.block()
    heap.set(block + 64, block)
    let analysis = try heap.analysis()
    #expect(analysis.leaked == [])
    #expect(analysis.rootKind(at: block) == .unknownHeap)
  }

  @Test(
    "What is left of freed blocks holds nothing among heap that the trace does not know, either")
  func freedMemoryOfChild() throws {
    var heap = SampleHeap()
    heap.trace.header.flags.insert(.forked)
    let lost = heap.block()
    heap.free(heap.block(words: [0, lost]))
    #expect(try heap.analysis().leaked == [lost])
  }

  @Test("Blocks that were freed before a pause may be others by now, those freed since are not")
  func freedMemoryAfterPause() throws {
    func leaked(pausesAt times: [UInt64]) throws -> [UInt64] {
      var heap = SampleHeap()
      heap.trace.header.flags.insert(.pausable)
      heap.trace.pause(false, time: 0)
      let lost = heap.block()
      heap.free(heap.block(words: [0, lost]))
      for (number, time) in times.enumerated() { heap.trace.pause(number % 2 == 0, time: time) }
      return try heap.analysis().leaked
    }
    #expect(try leaked(pausesAt: []) == [SampleHeap.heap + 16])
    #expect(try leaked(pausesAt: [800_000, 900_000]) == [])
    // Nothing was recorded when the snapshot was taken.
    #expect(try leaked(pausesAt: [800_000]) == [])
  }

  @Test("Chains are followed to their end")
  func chain() throws {
    var heap = SampleHeap()
    var blocks = [heap.block()]
    heap.set(SampleHeap.globals, blocks[0])
    for _ in 0..<1000 {
      let block = heap.block()
      heap.set(blocks[blocks.count - 1] + 8, block)
      blocks.append(block)
    }
    let analysis = try heap.analysis()
    #expect(analysis.leaked == [])
    let last = try #require(analysis.heap.blocks.block(at: blocks[1000]))
    #expect(analysis.reachability.path(to: last)?.blocks.count == 1001)
  }

  @Test("Links inside of elements hold them where they lead to the same place of others")
  func elementLinks() throws {
    var heap = SampleHeap()
    let (first, last) = (heap.block(64), heap.block(64))
    heap.set(first + 16, last + 16)
    let (root, left, right) = (heap.block(48), heap.block(48), heap.block(48))
    heap.set(root + 24, right + 16, left + 16)
    heap.set(left + 16, root + 17)
    heap.set(right + 16, root + 16)
    let named = [heap.block(41, stack: StackID(2)), heap.block(77, stack: StackID(2))]
    heap.set(named[0] + 8, named[1] + 8)
    let (alone, other) = (heap.block(80), heap.block(96))
    heap.set(alone + 16, other + 16)
    heap.set(SampleHeap.globals, first + 16, root + 16, named[0] + 8, alone + 16)
    let analysis = try heap.analysis()
    let elements = [first, last, root, left, right] + named
    #expect(elements.allSatisfy { analysis.state(at: $0) == .reached })
    #expect([alone, other].map(analysis.state(at:)) == [.possible, .possible])
  }

  @Test("Links with tags hold the nodes that they lead to where these are of one kind")
  func taggedLinks() throws {
    var heap = SampleHeap()
    // As of `tsearch`: the key, the left node with the color, the right one.
    let nodes = (0..<4).map { _ in heap.block(24) }
    heap.set(nodes[0] + 8, nodes[1], nodes[2])
    heap.set(nodes[1] + 8, nodes[3] | 1, 0)
    heap.set(nodes[3] + 8, 1, 0)
    // A tag in the highest bits, as the count of a stack without locks.
    let stack = (0..<2).map { _ in heap.block(40) }
    heap.set(stack[0], stack[1] | 7 << 48)
    let (other, text) = (heap.block(56), heap.block(8))
    heap.set(other, text | 1)
    heap.set(SampleHeap.globals, nodes[0], stack[0], other)
    let lost = (0..<2).map { _ in heap.block(32) }
    heap.set(lost[0] + 8, lost[1] | 1)
    let analysis = try heap.analysis()
    #expect((nodes + stack).allSatisfy { analysis.state(at: $0) == .reached })
    #expect(analysis.state(at: text) == .possible)
    #expect(analysis.leaked == lost)
  }

  @Test("A pointer into the middle, or with a tag, makes a possible leak; so does all behind it")
  func possible() throws {
    var heap = SampleHeap()
    let behind = heap.block()
    let interior = heap.block(words: [behind])
    let lowTag = heap.block()
    let highTag = heap.block()
    heap.set(SampleHeap.globals, interior + 16, lowTag | 1, highTag | 0x8000 << 48)
    let analysis = try heap.analysis()
    #expect(analysis.leaked == [])
    for address in [interior, behind, lowTag, highTag] {
      #expect(analysis.state(at: address) == .possible)
    }
  }

  @Test("A list holds the elements that its links lie in, as pointers to their beginnings do")
  func linksInElements() throws {
    var heap = SampleHeap()
    let ring = (0..<3).map { _ in heap.block(64) }
    let list = SampleHeap.globals
    heap.set(list, ring[0] + 24, ring[2] + 24)
    heap.set(ring[0] + 24, ring[1] + 24, list)
    heap.set(ring[1] + 24, ring[2] + 24, ring[0] + 24)
    heap.set(ring[2] + 24, list, ring[1] + 24)
    // The last one in a bucket has no next link; each has the address of what leads to it.
    let bucket = list + 64
    let hashed = (0..<2).map { _ in heap.block(64) }
    heap.set(bucket, hashed[0] + 8)
    heap.set(hashed[0] + 8, hashed[1] + 8, bucket)
    heap.set(hashed[1] + 8, 0, hashed[0] + 8)
    // A link that is in no list, and one that another list has taken over.
    let (alone, taken) = (heap.block(64), heap.block(64))
    heap.set(list + 128, alone + 16, taken + 16)
    heap.set(alone + 16, alone + 16, alone + 16)
    heap.set(taken + 16, ring[0] + 24, list + 128)
    let analysis = try heap.analysis()
    #expect((ring + hashed).allSatisfy { analysis.state(at: $0) == .reached })
    #expect([alone, taken].allSatisfy { analysis.state(at: $0) == .possible })
  }

  @Test("A pointer to the beginning counts more than an earlier one into the middle")
  func certain() throws {
    var heap = SampleHeap()
    let block = heap.block()
    heap.set(SampleHeap.globals, block + 16)
    heap.set(SampleHeap.stackPointer, block)
    #expect(try heap.analysis().state(at: block) == .reached)
  }

  @Test("One past the end of a block points to nothing")
  func pastTheEnd() throws {
    var heap = SampleHeap()
    let block = heap.block(24)
    heap.set(SampleHeap.globals, block + 24)
    #expect(try heap.analysis().leaked == [block])
  }

  @Test("Words between the requested and the usable size count where the program asks for that")
  func slack() throws {
    var heap = SampleHeap()
    let held = heap.block()
    let holder = heap.block(17)
    heap.set(SampleHeap.globals, holder)
    heap.set(holder + 16, held)
    #expect(try heap.analysis().leaked == [held])
    heap.trace.header.flags.insert(.usableSizes)
    #expect(try heap.analysis().leaked == [])
  }

  @Test("Nothing is kept behind what operator new was asked for")
  func slackOfNew() throws {
    var heap = SampleHeap()
    heap.trace.header.flags.insert(.usableSizes)
    let lost = heap.block()
    let holder = heap.block(20, operation: Operation(rawValue: 14))
    heap.set(SampleHeap.globals, holder)
    heap.set(holder + 16, lost)
    #expect(try heap.analysis().leaked == [lost])
  }

  @Test(
    "A coroutine is held by its promise and its variables, behind the addresses of its functions")
  func coroutine() throws {
    var heap = SampleHeap()
    let code: UInt64 = 0x40_2000
    heap.snapshot.region(code..<code + 0x1000, path: "/opt/app/app", protection: [.read, .execute])
    let coroutines = (0..<2).map { _ in heap.block(64, words: [code + 0x10, code + 0x80]) }
    let other = heap.block(64, words: [code + 0x10, SampleHeap.constants])
    heap.set(SampleHeap.globals, coroutines[0] + 16, coroutines[1] + 40, other + 16)
    let analysis = try heap.analysis()
    #expect(coroutines.map(analysis.state(at:)) == [.reached, .reached])
    #expect(analysis.state(at: other) == .possible)
  }

  @Test("C++ arrays are held behind their count, objects by each of their bases")
  func interiorPointersOfCxx() throws {
    var heap = SampleHeap()
    let array = heap.block(80, operation: Operation(rawValue: 14))
    try #require(Operation(rawValue: 14).family == .newArray)
    let table = SampleHeap.constants + 0x100
    let object = heap.block(48, words: [table, 0, table + 0x40])
    let objects = heap.block(56, words: [3, table, 0, table, 0, table])
    let numbers = heap.block(56, words: [3, 0, 0, table])
    heap.set(SampleHeap.globals, array + 8, object + 16, objects + 8, numbers + 8)
    let analysis = try heap.analysis()
    #expect(analysis.state(at: array) == .reached)
    #expect(analysis.state(at: object) == .reached)
    #expect(analysis.state(at: objects) == .reached)
    #expect(analysis.state(at: numbers) != .reached)
  }

  @Test("Strings of ICU hold their text behind its count; who else points there may have moved on")
  func countedTexts() throws {
    var heap = SampleHeap()
    let table = SampleHeap.constants + 0x100
    let texts = (0..<3).map { _ in heap.block(40) }
    let string = heap.block(64, words: [table, 0, 0, texts[0] + 4])
    let format = heap.block(80, words: [table, 0, 0, table + 0x40, 0, 0, texts[1] + 4])
    let parser = heap.block(40, words: [table, 0, texts[2] + 4])
    heap.set(SampleHeap.globals, string, format, parser)
    let analysis = try heap.analysis()
    #expect(texts.map(analysis.state(at:)) == [.reached, .reached, .possible])
  }

  @Test("Buffers of std::pmr::monotonic_buffer_resource are held by their ends, one by the other")
  func monotonicBuffers() throws {
    var heap = SampleHeap()
    let aligned = Operation(rawValue: 12)
    try #require(aligned.family == .newAligned)
    let first = heap.block(128, operation: aligned)
    let second = heap.block(192, operation: aligned)
    let objects = heap.block(128, operation: aligned)
    let array = heap.block(128)
    heap.set(second + 184, first + 112)
    heap.set(objects + 112, array)
    heap.set(
      SampleHeap.globals, SampleHeap.constants, second + 176, objects + 112, array + 112)
    let analysis = try heap.analysis()
    #expect([first, second].map(analysis.state(at:)) == [.reached, .reached])
    #expect([objects, array].map(analysis.state(at:)) == [.possible, .possible])
  }

  @Test(
    "Memory that the program has aligned itself is held by the address behind that of its block")
  func alignedByTheProgram() throws {
    var heap = SampleHeap()
    let (aligned, other, unaligned) = (heap.block(96), heap.block(96), heap.block(96))
    heap.set(aligned + 24, aligned)
    heap.set(other + 24, aligned)
    heap.set(unaligned + 32, unaligned)
    let pages = heap.block(3 * 4096)
    let page = (pages + 4095) & ~4095
    heap.set(page - 48, pages)
    heap.set(SampleHeap.globals, aligned + 32, other + 32, unaligned + 40, page)
    let analysis = try heap.analysis()
    #expect([aligned, pages].map(analysis.state(at:)) == [.reached, .reached])
    #expect([other, unaligned].map(analysis.state(at:)) == [.possible, .possible])
  }

  @Test("Exceptions of C++ are held behind their header, and by parts of it")
  func exceptionsOfCxx() throws {
    var heap = SampleHeap()
    let type = SampleHeap.constants + 0x100
    heap.trace.image(
      Image(
        index: 1, path: "/usr/lib/libstdc++.so.6", loadBias: 0x7b00_0000_0000,
        start: Address(0x7b00_0000_0000), end: Address(0x7b00_0000_1000),
        textStart: Address(0x7b00_0000_0000), textEnd: Address(0x7b00_0000_1000)))
    heap.snapshot.region(
      0x7b00_0000_0000..<0x7b00_0000_1000, path: "/usr/lib/libstdc++.so.6",
      protection: [.read, .execute])
    let library: UInt64 = 0x7b00_0000_0100
    let words = [0, 0, type, library, library, library] + Array(repeating: 0, count: 7) + [library]
    let exceptions = (0..<3).map { _ in heap.block(160, words: words) }
    let inside = heap.block(160, words: words)
    let message = heap.block(64, operation: Operation(rawValue: 10))
    let other = heap.block(64, operation: Operation(rawValue: 10))
    try #require(Operation(rawValue: 10).family == .new)
    heap.set(exceptions[0] + 128, type, message + 24, other + 24)
    // A table of functions: the exception as a handler sees it is none of them.
    let table = heap.block(160, words: [0, 0, type] + Array(repeating: library, count: 12))
    heap.set(
      SampleHeap.globals, exceptions[0] + 128, exceptions[1] + 16, exceptions[2] + 96,
      inside + 136, table + 128)
    let analysis = try heap.analysis()
    #expect(exceptions.map(analysis.state(at:)) == [.reached, .reached, .reached])
    #expect(analysis.state(at: message) == .reached)
    #expect([inside, table, other].map(analysis.state(at:)) == [.possible, .possible, .possible])
  }

  @Test("Objects are held behind what their runtime puts in front of them")
  func interiorPointersOfRuntimes() throws {
    var heap = SampleHeap()
    let (dictionary, label) = (SampleHeap.globals + 0x800, SampleHeap.globals + 0x900)
    heap.snapshot.addClass("dict", at: dictionary)
    heap.snapshot.addClass("SampleLabel", at: label, kind: 2)
    // The links of the collector, then count and class; private data, then class, count and data.
    let links = SampleHeap.globals + 0x100
    let python = heap.block(64, words: [links, links, 1, dictionary])
    let attributes = heap.block(48)
    let behind = heap.block(
      80, words: [attributes + 8, 0, links, links, 1, dictionary, python + 24])
    let instance = heap.block(72, words: [0, 0, 0, 0, 0, 0, label, 1])
    // An address where there is no object, and a class in front of an address.
    let inside = heap.block(64, words: [links, links, 1, dictionary])
    let table = heap.block(64, words: [0, 0, label, links])
    heap.set(
      SampleHeap.globals, python + 16, behind + 32, instance + 48, inside + 24, table + 16)
    let analysis = try heap.analysis()
    for address in [python, behind, instance, attributes] {
      #expect(analysis.state(at: address) == .reached)
    }
    for address in [inside, table] { #expect(analysis.state(at: address) == .possible) }
  }

  @Test("Texts of Python are held by the address of their characters")
  func textsOfPython() throws {
    var heap = SampleHeap()
    let (text, bytes) = (SampleHeap.globals + 0x800, SampleHeap.globals + 0x900)
    heap.snapshot.addClass("str", at: text)
    heap.snapshot.addClass("bytes", at: bytes)
    let texts = (0..<4).map { _ in heap.block(80, words: [1, text]) }
    let buffers = (0..<2).map { _ in heap.block(80, words: [1, bytes]) }
    let other = heap.block(80, words: [1, 1])
    // The text of a class behind the links of the collector begins elsewhere.
    let links = SampleHeap.globals + 0x100
    let subclass = heap.block(96, words: [links, links, 1, text])
    heap.set(
      SampleHeap.globals, texts[0] + 48, texts[1] + 40, texts[2] + 32, texts[3] + 56,
      buffers[0] + 32, buffers[1] + 40, other + 48, subclass + 48)
    let analysis = try heap.analysis()
    for address in [texts[0], texts[1], buffers[0]] {
      #expect(analysis.state(at: address) == .reached)
    }
    for address in [texts[2], texts[3], buffers[1], other, subclass] {
      #expect(analysis.state(at: address) == .possible)
    }
  }

  /// The sizes are those of gRPC's tables: 31 elements of 24 bytes, 15 of 40.
  @Test(
    "A hash table of Abseil is held by the address of its control bytes, beside that of its elements",
    arguments: [
      (size: UInt64(800), control: UInt64(8), elements: UInt64(56), isHeld: true),
      (640, 8, 40, true), (1304, 16, 64, true), (800, 8, 64, false), (808, 8, 56, true),
      (816, 8, 56, false), (800, 24, 72, false), (800, 8, 800, false), (800, 8, 8, false),
      (800, 8, 0, false), (64, 8, 32, true), (72, 8, 16, false),
    ])
  func abseilTables(size: UInt64, control: UInt64, elements: UInt64, isHeld: Bool) throws {
    var heap = SampleHeap()
    let held = heap.block()
    let object = heap.block(64)
    let tables = (0..<2).map { _ in heap.block(size) }
    heap.set(tables[0] + size - 8, held)
    heap.set(SampleHeap.globals, tables[0] + control, tables[0] + elements, object)
    heap.set(object + 16, tables[1] + control, tables[1] + elements)
    let analysis = try heap.analysis()
    // An address of the beginning is one in any case.
    let isReached = isHeld || elements == 0
    for block in tables + [held] {
      #expect(analysis.state(at: block) == (isReached ? .reached : .possible))
    }
  }

  @Test(
    "When Python has ended, its collector's list holds nothing",
    arguments: [MT_SNAPSHOT_AT_EXIT, MT_SNAPSHOT_ON_REQUEST])
  func listOfTheCollector(reason: mt_snapshot_reason) throws {
    var heap = SampleHeap(reason: reason)
    let (dictionary, list) = (SampleHeap.globals + 0x800, SampleHeap.globals + 0x100)
    heap.snapshot.addClass("dict", at: dictionary)
    let table = heap.block()
    let lost = heap.block(64, words: [0, 0, 1, dictionary, table])
    let kept = heap.block(80, words: [0, 0, 0, 0, 1, dictionary])
    let broken = heap.block(64, words: [list, list, 1, dictionary])
    // The flags of the collector are in the lowest bits.
    heap.set(lost, kept + 16, list | 1)
    heap.set(kept + 16, list, lost | 2)
    heap.set(list, lost, kept + 16)
    heap.set(SampleHeap.globals, kept + 32, broken)
    let analysis = try heap.analysis()
    #expect(analysis.leaked == (reason == MT_SNAPSHOT_AT_EXIT ? [table, lost] : []))
    #expect([kept, broken].map(analysis.state(at:)) == [.reached, .reached])
  }

  @Test(
    "What Python never frees is no leak when it has ended, nor what only that holds",
    arguments: [MT_SNAPSHOT_AT_EXIT, MT_SNAPSHOT_ON_REQUEST])
  func immortalObjects(reason: mt_snapshot_reason) throws {
    var heap = SampleHeap(reason: reason)
    let string = SampleHeap.globals + 0x800
    heap.snapshot.addClass("str", at: string)
    let held = heap.block()
    let interned = heap.block(64, words: [UInt64(UInt32.max), string, held])
    let lost = heap.block(64, words: [UInt64(UInt32.max), 1])
    let counted = heap.block(64, words: [UInt64(Int32.max), string])
    let analysis = try heap.analysis()
    let atEnd = reason == MT_SNAPSHOT_AT_EXIT
    #expect(analysis.leaked == (atEnd ? [lost, counted] : [held, interned, lost, counted]))
    #expect(analysis.rootKind(at: interned) == (atEnd ? .immortal : nil))
    #expect(analysis.rootKind(at: held) == (atEnd ? .immortal : nil))
  }

  @Test("The vector of thread-local variables is held by the control block, behind its header")
  func dynamicThreadVector() throws {
    var heap = SampleHeap()
    let variables = heap.block(64)
    let vector = heap.block(160, words: [0, 0, variables])
    heap.set(SampleHeap.threadPointer + 8, vector + 16)
    let analysis = try heap.analysis()
    #expect(analysis.state(at: vector) == .reached)
    #expect(analysis.state(at: variables) == .reached)
  }

  @Test("Variables of the recorder's own blocks hold, too")
  func recorder() throws {
    var heap = SampleHeap()
    let held = heap.block()
    heap.trace.allocate(SampleHeap.heap + 0x8000, 64, thread: 0)
    heap.set(SampleHeap.globals, SampleHeap.heap + 0x8000)
    heap.set(SampleHeap.heap + 0x8008, held)
    #expect(try heap.analysis().leaked == [])
  }
}
