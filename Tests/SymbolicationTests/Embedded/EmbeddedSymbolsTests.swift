import Testing

@testable import Symbolication
@testable import TraceReader

/// Names go into a trace and come out as they were.
@Suite struct EmbeddedSymbolsTests {
  private static let bias: UInt64 = 0x10_0000
  private let images = ImageMap(images: [
    Image(
      index: 0, path: "/opt/app/app", buildID: [1, 2], loadBias: bias, start: Address(bias),
      end: Address(bias + 0x1000), textStart: Address(bias), textEnd: Address(bias + 0x1000)),
    Image(
      index: 1, path: "/opt/app/libold.so", loadBias: 0x20_0000, start: Address(0x20_0000),
      end: Address(0x20_1000), textStart: Address(0x20_0000), textEnd: Address(0x20_1000)),
  ])
  /// A return address with two inlined frames, one without a line, one exact, one without name,
  /// one in the second image, one in none.
  private let stacks = StackTable(
    nodes: [0x10_0101, 0x10_0201, 0x10_0301, 0x20_0011, 0x1].enumerated().map {
      .init(pc: $1, parent: 0, flags: $0 == 1 ? 1 : 0)
    }, spans: [.init(first: 2, count: 5, position: 0)])

  /// Knows the frames by ELF address, and warns of images like `ELFSymbolicator`.
  private final class Files: Symbolicator {
    var warnings: [SymbolicationWarning] = []
    var problem: SymbolicationWarning.Reason?
    private(set) var calls = 0

    static let frames: [UInt64: [ImageSymbols.Frame]] = [
      0x100: [
        .init(
          function: Demangler.name(of: "_ZN6Parser4readEi"), start: nil,
          location: SourceLocation(path: "/src/parser.cc", line: 7, column: 3), isInlined: true),
        .init(
          function: FunctionName(
            raw: "main", short: "main (short)", full: "int main()", base: "main", language: .cxx),
          start: 0xf0, location: SourceLocation(path: "/src/main.cc", line: 40), isInlined: false),
      ],
      0x201: [
        .init(
          function: Demangler.name(of: "$s4demo3FooV3baryyF"), start: 0x200, location: nil,
          isInlined: false)
      ],
      0x10: [
        .init(function: FunctionName(plain: "old"), start: 0, location: nil, isInlined: false)
      ],
    ]

    func frames(
      at programCounter: Address, in image: Image?, isExact: Bool
    ) -> [SymbolicatedFrame] {
      guard let image else { return [SymbolicatedFrame(programCounter: programCounter)] }
      calls += 1
      if let problem, image.index == 1,
        !warnings.contains(where: { $0.imagePath == image.path })
      {
        warnings.append(SymbolicationWarning(imagePath: image.path, reason: problem))
        if problem != .newerThanTrace {
          return SymbolicatedFrame.frames([], at: programCounter, in: image)
        }
      }
      let address = programCounter.rawValue &- image.loadBias &- (isExact ? 0 : 1)
      return SymbolicatedFrame.frames(
        Self.frames[address] ?? [], at: programCounter, in: image)
    }

    func vtableSymbol(at address: Address, in image: Image) -> String? {
      address == Address(0x10_0800) ? "_ZTV6Parser" : nil
    }
  }

  /// A symbolicator for whoever has none of the files.
  private final class Gone: Symbolicator {
    var warnings: [SymbolicationWarning] = []

    func frames(
      at programCounter: Address, in image: Image?, isExact: Bool
    ) -> [SymbolicatedFrame] {
      guard let image else { return [SymbolicatedFrame(programCounter: programCounter)] }
      warnings.append(SymbolicationWarning(imagePath: image.path, reason: .missingFile))
      return SymbolicatedFrame.frames([], at: programCounter, in: image)
    }
  }

  private func chunks(_ files: Files) -> [[UInt8]] {
    var types = TypeTable()
    types.add(
      BlockType(
        id: TypeID(rawValue: 1), kind: .cxxVTable, name: "", words: [0x10_0810],
        definition: Address(0x10_0800), time: .distantPast))
    return SymbolEmbedder(stacks: stacks, images: images, types: types, symbolicator: files)
      .chunks()
  }

  private func allFrames(_ symbolicator: any Symbolicator) -> [[SymbolicatedFrame]] {
    let stackSymbolicator = StackSymbolicator(
      stacks: stacks, images: images, symbolicator: symbolicator)
    return (UInt32(2)..<7).map { stackSymbolicator.backtrace(of: StackID($0)).frames }
  }

  @Test func framesAreTheSameWithoutTheFiles() {
    let embedded = EmbeddedSymbolicator(chunks(Files()), files: Gone())
    #expect(allFrames(embedded) == allFrames(Files()))
    #expect(embedded.warnings.isEmpty)
    #expect(allFrames(embedded)[0].map(\.displayName) == ["Parser::read(int)", "main (short)"])
    #expect(allFrames(embedded)[0].map(\.functionOffset) == [nil, 0x11])
    #expect(allFrames(embedded)[2].map(\.displayName) == ["app+0x301"])
  }

  @Test func vtablesAreFoundWithoutTheFiles() {
    let embedded = EmbeddedSymbolicator(chunks(Files()), files: Gone())
    #expect(embedded.vtableSymbol(at: Address(0x10_0800), in: images.images[0]) == "_ZTV6Parser")
    #expect(embedded.vtableSymbol(at: Address(0x10_0808), in: images.images[0]) == nil)
  }

  @Test func filesThatWereGoneAreLookedForAgain() {
    let files = Files()
    files.problem = .missingFile
    let chunks = chunks(files)
    let there = EmbeddedSymbolicator(chunks, files: Files())
    #expect(allFrames(there) == allFrames(Files()))
    let gone = EmbeddedSymbolicator(chunks, files: Gone())
    #expect(allFrames(gone)[3].map(\.displayName) == ["libold.so+0x11"])
    #expect(gone.warnings.map(\.imagePath) == ["/opt/app/libold.so"])
  }

  @Test func doubtAboutAFileIsKept() {
    let files = Files()
    files.problem = .newerThanTrace
    let embedded = EmbeddedSymbolicator(chunks(files), files: Gone())
    #expect(allFrames(embedded) == allFrames(Files()))
    #expect(embedded.warnings.map(\.reason) == [.newerThanTrace])
  }

  @Test func namedDebugFilesGoFirst() {
    let files = Files()
    let preferring = EmbeddedSymbolicator(chunks(Files()), files: files, prefersFiles: true)
    #expect(allFrames(preferring) == allFrames(Files()))
    #expect(files.calls == 4)
    let gone = EmbeddedSymbolicator(chunks(Files()), files: Gone(), prefersFiles: true)
    #expect(allFrames(gone) == allFrames(Files()))
    #expect(gone.warnings.isEmpty)
  }

  @Test func anExampleIsWrittenAsDocumented() {
    var encoder = SymbolChunkEncoder()
    encoder.add(image: 3, state: .read)
    encoder.add(
      [
        ImageSymbols.Frame(
          function: FunctionName(plain: "f"), start: 0x40,
          location: SourceLocation(path: "a.c", line: 9), isInlined: false)
      ], at: 0x42)
    encoder.endImage(3)
    #expect(
      encoder.content() == [
        1, 7, 2, 1, 0x66, 3, 0x61, 0x2e, 0x63,  // strings: f, a.c
        2, 4, 1, 0x80, 0x01, 0,  // functions: plain, names follow from string 0
        3, 3, 1, 3, 1,  // images: image 3 was read
        4, 11, 3, 1,  // frames: image 3, one address
        0x84, 0x01, 1, 14, 0, 4, 1, 9, 0,  // at 0x42 one frame: flags, f, 2 before, a.c, 9, 0
        0,
      ])
  }

  @Test func damagedChunksAreSurvived() {
    let whole = chunks(Files())[0]
    for position in whole.indices {
      for mask in [0x01, 0x80, 0xff] as [UInt8] {
        var damaged = whole
        damaged[position] ^= mask
        _ = allFrames(EmbeddedSymbolicator([damaged], files: Gone()))
      }
      let cut = EmbeddedSymbolicator([Array(whole.prefix(position))], files: Gone())
      #expect(allFrames(cut).count == 5)
    }
  }
}
