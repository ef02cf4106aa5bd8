import Testing
import TraceReader
import TraceTestSupport

@Suite struct MetaTests {
  private func image(_ index: UInt32, _ start: UInt64, firstStack: UInt32 = 2) -> Image {
    Image(
      index: index, path: "/usr/lib/lib\(index).so", buildID: [1, 2, UInt8(index)],
      loadBias: start, start: Address(start), end: Address(start + 0x1000),
      textStart: Address(start + 0x100), textEnd: Address(start + 0x800),
      loadTime: EventTime(5), firstStack: StackID(firstStack))
  }

  @Test func imagesSurvive() throws {
    var trace = TraceBuilder()
    trace.image(image(0, 0x10000))
    trace.image(image(1, 0x20000))
    trace.unload(image: 1, time: 77, firstStack: StackID(9))
    let images = try trace.open { $0.images }
    #expect(images.images[0] == image(0, 0x10000))
    #expect(images.images[1].unloadTime == EventTime(77))
    #expect(images.images[1].name == "lib1.so")
  }

  @Test func sameAddressesMeanAnotherImageLater() throws {
    var trace = TraceBuilder()
    trace.image(image(0, 0x10000, firstStack: 2))
    trace.unload(image: 0, time: 10, firstStack: StackID(50))
    trace.image(image(1, 0x10000, firstStack: 60))
    let images = try trace.open { $0.images }
    let pc = Address(0x10400)
    #expect(images.image(containing: pc, seenBy: StackID(10))?.index == 0)
    #expect(images.image(containing: pc, seenBy: StackID(55)) == nil)
    #expect(images.image(containing: pc, seenBy: StackID(60))?.index == 1)
    #expect(images.image(containing: Address(0x11000), seenBy: StackID(10)) == nil)
    #expect(images.image(containing: Address(0xffff), seenBy: StackID(10)) == nil)
  }

  @Test func smallImageInsideTheSpanOfALargeOneIsFound() {
    let large = Image(
      index: 0, path: "large", loadBias: 0, start: Address(0), end: Address(0x100000),
      textStart: Address(0), textEnd: Address(0))
    let small = Image(
      index: 1, path: "small", loadBias: 0, start: Address(0x500), end: Address(0x600),
      textStart: Address(0), textEnd: Address(0))
    let images = ImageMap(images: [large, small])
    #expect(images.image(containing: Address(0x550), seenBy: StackID(2))?.index == 1)
    #expect(images.image(containing: Address(0x700), seenBy: StackID(2))?.index == 0)
  }

  @Test func threadsSurvive() throws {
    var trace = TraceBuilder()
    trace.thread(1, tid: 100, name: "main", time: 1)
    trace.thread(2, tid: 101, time: 2)
    trace.thread(2, tid: 101, name: "worker", state: .named, time: 3)
    trace.thread(2, tid: 101, state: .ended, time: 4)
    let threads = try trace.open { $0.threads }
    #expect(
      threads == [
        ThreadInfo(index: ThreadIndex(1), tid: 100, name: "main", began: EventTime(1)),
        ThreadInfo(
          index: ThreadIndex(2), tid: 101, name: "worker", began: EventTime(2),
          ended: EventTime(4)),
      ])
  }

  @Test func notesGoToTheCoverage() throws {
    var trace = TraceBuilder()
    trace.note(kind: 1, text: "hello")
    trace.note(kind: 2, text: "/bin/busybox: statically linked")
    trace.note(kind: 3, text: "malloc: redis-server")
    trace.note(kind: 3, text: "mi_new: plugin.so", value: 1)  // loaded twice
    trace.note(kind: 3, text: "mi_new: plugin.so", value: 1)
    trace.note(kind: 5, text: "", value: 4712)
    trace.mark("loaded", time: 1234)
    try trace.open { opened in
      #expect(opened.coverage.notes == ["hello"])
      #expect(opened.coverage.childrenNotFollowed == ["/bin/busybox: statically linked"])
      #expect(opened.coverage.bypassed == ["malloc: redis-server", "mi_new: plugin.so"])
      #expect(opened.notes.last?.kind == .child)
      #expect(opened.notes.last?.value == 4712)
      #expect(
        opened.marks == [Mark(time: EventTime(1234), thread: ThreadIndex(1), name: "loaded")])
    }
  }

  @Test func switchesMakeWindows() throws {
    var trace = TraceBuilder()
    trace.header.flags = [.pausable]
    #expect(try trace.open { $0.windows } == [])
    trace.pause(true, time: 5)  // is so already
    trace.pause(false, time: 10)
    trace.pause(false, time: 12)
    trace.pause(false, time: 40)  // written by another process, in front of an earlier one
    trace.pause(true, time: 30)
    #expect(
      try trace.open { $0.windows } == [
        RecordingWindow(start: EventTime(10), end: EventTime(30)),
        RecordingWindow(start: EventTime(40)),
      ])
    #expect(try trace.open { $0.coverage.mayMissAllocations })
    #expect(try trace.open { $0.coverage.damage.isEmpty })
  }

  @Test func whatCouldNotBePausedHasNoWindows() throws {
    var trace = TraceBuilder()
    trace.pause(false, time: 10)
    #expect(try trace.open { $0.windows } == nil)
    #expect(try trace.open { !$0.coverage.mayMissAllocations })
  }

  @Test func recordThatDoesNotFitIsDamage() throws {
    var trace = TraceBuilder()
    trace.note(kind: 1, text: "good")
    trace.note(kind: 1, text: "bad")
    var bytes = trace.bytes()
    // The text length of the second record: 40 bytes of the first, 28 of its own fields.
    bytes[4096 + 64 + 40 + 28] = 200
    let file = try TemporaryFile(bytes)
    let coverage = try withExtendedLifetime(file) { try Trace(path: file.path).coverage }
    #expect(coverage.notes == ["good"])
    #expect(coverage.damage.map(\.reason) == ["a record that does not fit"])
  }
}
