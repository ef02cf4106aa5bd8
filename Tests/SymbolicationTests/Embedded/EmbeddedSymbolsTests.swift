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

  /// The example of the description of the format, for one image.
  private static func example(image: UInt8) -> [UInt8] {
    [
      1, 7, 2, 1, 0x66, 3, 0x61, 0x2e, 0x63, 2, 4, 1, 0x80, 1, 0, 3, 3, 1, image, 1, 4, 0xb, image,
      1, 0x84, 1, 1, 0xe, 0, 4, 1, 9, 0, 0,
    ]
  }

  @Test func moreFramesThanFitAreLeftOut() {
    let chunks = [Self.example(image: 3), Self.example(image: 5)]
    let all = EmbeddedSymbols(chunks)
    #expect([3, 5].map { all.frames(at: 0x42, in: $0).map(\.function?.raw) } == [["f"], ["f"]])
    #expect(!all.isDamaged)
    let some = EmbeddedSymbols(chunks, mostFrames: 1)
    #expect(some.frames(at: 0x42, in: 3).count == 1)
    #expect(some.frames(at: 0x42, in: 5).isEmpty)
    #expect(some.isDamaged)
  }

  /// Knows the frames by ELF address, and warns of images like `ELFSymbolicator`.
  private final class Files: Symbolicator {
    var warnings: [SymbolicationWarning] = []
    var problem: SymbolicationWarning.Reason?
    private(set) var calls = 0
    var texts: [String: ReturnedText] = [:]

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

    static let generated = ImageSymbols.Frame(
      function: GeneratedNames.function("JS:*parse /srv/app.js:12:7"), start: 0, location: nil,
      isInlined: false)

    func frames(
      at programCounter: Address, in image: Image?, isExact: Bool
    ) -> [SymbolicatedFrame] {
      guard let image else {
        let address = programCounter.rawValue &- (isExact ? 0 : 1)
        return SymbolicatedFrame.frames(
          address == 0 ? [Self.generated] : [], at: programCounter, in: nil)
      }
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

    func swiftValueSize(witnesses: Address, in image: Image) -> UInt64? {
      switch witnesses.rawValue {
      case 0x10_0d00: 24
      case 0x10_0e00: 16
      default: nil
      }
    }

    func dataSymbol(at address: Address, in image: Image) -> DataSymbol? {
      guard (0x10_0900..<0x10_0940).contains(address.rawValue) else { return nil }
      return DataSymbol(name: "app::table", offset: address.rawValue - 0x10_0900, size: 0x40)
    }

    /// The first frame of the first stack allocates arrays.
    func allocatedType(at site: AllocationSite, in image: Image) -> TypeName? {
      guard site.frame.function?.base == "Parser::read", site.isNew else { return nil }
      return TypeName(short: "Item[]", full: "Item[]", language: .cxx)
    }

    struct Members: MemberLayout {
      var size: UInt64
      var members: [UInt64: BlockMember]

      func member(at offset: UInt64) -> BlockMember? { members[offset] }
      func isUnused(at offset: UInt64) -> Bool { hasWord(at: offset) && members[offset] == nil }
    }

    func structure(
      named name: String, isCxx: Bool, knownTo address: Address, in image: Image
    ) -> StructureLayout? {
      switch (name, address.rawValue &- image.loadBias) {
      case ("Item", 0x100):
        StructureLayout(
          Members(
            size: 32,
            members: [
              8: BlockMember(name: "text"), 16: BlockMember(name: "text"),
              24: BlockMember(name: "owner", isWeak: true),
            ]))
      case ("Parser", _):
        StructureLayout(Members(size: 16, members: [8: BlockMember(name: "input")]))
      default: nil
      }
    }

    func text(returnedBy function: String, in image: Image) -> ReturnedText? {
      function == ReturnedText.suppressions ? texts[image.path] : nil
    }

    func swiftElements(named name: String, in image: Image) -> SwiftElements? {
      guard name == "app.Item", image.index == 0 else { return nil }
      return SwiftElements(
        stride: 24,
        fields: [
          SwiftField(name: "owner", offset: 0, ownership: .unowned),
          SwiftField(name: "flag", offset: 16, ownership: .number),
        ])
    }

    func swiftFields(of type: SwiftClassReference, in image: Image) -> [SwiftField] {
      guard type.descriptor == Address(0x10_0a00) else { return [] }
      if type.metadata == Address(0x9000), type.offsets == [16, 40] {
        return [SwiftField(name: "first", offset: 16), SwiftField(name: "second", offset: 40)]
      }
      guard type.metadata == Address(0x10_0b00) else { return [] }
      return [
        SwiftField(name: "children", offset: 16, countedReference: 0),
        SwiftField(name: "parent", offset: 24, ownership: .unowned),
        SwiftField(name: "observer", offset: 32, ownership: .weak),
        SwiftField(name: "content", offset: 40, ownership: .existential),
        SwiftField(name: "isOpen", offset: 72, ownership: .number),
        SwiftField(name: "index", offset: 80, ownership: .optionalNumber),
        SwiftField(name: "action", offset: 96, countedReference: 8),
        SwiftField(name: "title", offset: 112),
        SwiftField(name: "page", offset: 128, ownership: .identifier),
      ]
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
    types.add(
      BlockType(
        id: TypeID(rawValue: 2), kind: .swiftClass, name: "app.Node", words: [0x10_0b00],
        definition: Address(0x10_0a00), time: .distantPast))
    // Made at run time, outside of all images; of the second one nobody knows the properties.
    for (id, word) in [(UInt32(3), UInt64(0x9000)), (4, 0x9100)] {
      types.add(
        BlockType(
          id: TypeID(rawValue: id), kind: .swiftClass, name: "app.Pair<Swift.Int>", words: [word],
          definition: Address(0x10_0a00), time: .distantPast))
    }
    types.add(fieldOffsets: [16, 40], of: 0x9000)
    for (id, element) in [(UInt32(5), "app.Item"), (6, "app.Node"), (7, "Swift.Int")] {
      types.add(
        BlockType(
          id: TypeID(rawValue: id), kind: .swiftClass,
          name: "Swift._ContiguousArrayStorage<\(element)>", words: [0xa000 + UInt64(id)],
          definition: Address(0x7000_0000), time: .distantPast))
    }
    return SymbolEmbedder(
      stacks: stacks, images: images, types: types, variables: variables,
      executable: "/opt/app/app", symbolicator: files
    ).chunks()
  }

  /// Of a snapshot with words in the data of the first image.
  private var variables: VariablePlaces {
    let info = SnapshotInfo(
      regions: [
        SnapshotRegion(start: 0x10_0800, end: 0x10_1000, kind: .image, image: 0),
        SnapshotRegion(start: 0x50_0000, end: 0x51_0000, kind: .heap),
      ])
    var memory = SnapshotMemory(regions: info.regions)
    memory.pages = [0x100]
    memory.firstValues = [0]
    // At 0x900, 0x910 and 0x938; the one at 0x910 leads nowhere.
    memory.bitmaps = [0, 0, 0, 0, 1 << 32 | 1 << 34 | 1 << 39, 0, 0, 0]
    memory.values = [0x50_0010, 0x7000, 0x50_0020]
    var places = VariablePlaces()
    places.add(info, memory, images)
    return places
  }

  private func allFrames(_ symbolicator: any Symbolicator) -> [[SymbolicatedFrame]] {
    let stackSymbolicator = StackSymbolicator(
      stacks: stacks, images: images, symbolicator: symbolicator)
    return (UInt32(2)..<7).map {
      stacks.frames(of: StackID($0)).flatMap(stackSymbolicator.frames(of:))
    }
  }

  @Test func framesAreTheSameWithoutTheFiles() {
    let embedded = EmbeddedSymbolicator(chunks(Files()), files: Gone())
    #expect(allFrames(embedded) == allFrames(Files()))
    #expect(embedded.warnings.isEmpty)
    #expect(allFrames(embedded)[0].map(\.displayName) == ["Parser::read(int)", "main (short)"])
    #expect(allFrames(embedded)[0].map(\.functionOffset) == [nil, 0x11])
    #expect(allFrames(embedded)[2].map(\.displayName) == ["app+0x301"])
    #expect(allFrames(embedded)[4].map(\.displayName) == ["parse /srv/app.js:12:7"])
  }

  @Test func vtablesAreFoundWithoutTheFiles() {
    let embedded = EmbeddedSymbolicator(chunks(Files()), files: Gone())
    #expect(embedded.vtableSymbol(at: Address(0x10_0800), in: images.images[0]) == "_ZTV6Parser")
    #expect(embedded.vtableSymbol(at: Address(0x10_0808), in: images.images[0]) == nil)
  }

  @Test func variablesAreFoundWithoutTheFiles() {
    #expect(variables.addresses == [0: [0x900, 0x938]])
    let embedded = EmbeddedSymbolicator(chunks(Files()), files: Gone())
    let image = images.images[0]
    #expect(
      embedded.dataSymbol(at: Address(0x10_0938), in: image)
        == DataSymbol(name: "app::table", offset: 0x38, size: 0x40))
    #expect(embedded.dataSymbol(at: Address(0x10_08f8), in: image) == nil)
    #expect(embedded.dataSymbol(at: Address(0x10_0940), in: image) == nil)
  }

  @Test func propertiesAreFoundWithoutTheFiles() {
    let embedded = EmbeddedSymbolicator(chunks(Files()), files: Gone())
    let fields = embedded.swiftFields(
      of: SwiftClassReference(descriptor: Address(0x10_0a00), metadata: Address(0x10_0b00)),
      in: images.images[0])
    #expect(
      fields.map(\.name) == [
        "children", "parent", "observer", "content", "isOpen", "index", "action", "title", "page",
      ])
    #expect(fields.map(\.offset) == [16, 24, 32, 40, 72, 80, 96, 112, 128])
    #expect(
      fields.map(\.ownership)
        == [
          .strong, .unowned, .weak, .existential, .number, .optionalNumber, .strong, .strong,
          .identifier,
        ])
    #expect(fields.map(\.countedReference) == [0, nil, nil, nil, nil, nil, 8, nil, nil])
  }

  /// By what metadata have in front of them: in an image, and of a generic type in memory of the runtime.
  @Test func sizesOfValuesAreFoundWithoutTheFiles() {
    let info = SnapshotInfo(
      regions: [
        SnapshotRegion(start: 0x10_0800, end: 0x10_1000, kind: .image, image: 0),
        SnapshotRegion(start: 0x50_0000, end: 0x51_0000, kind: .heap),
      ])
    var memory = SnapshotMemory(regions: info.regions)
    memory.pages = [0x100, 0x500]
    memory.runs = [.init(firstPage: 0x100, position: 0), .init(firstPage: 0x500, position: 1)]
    memory.firstValues = [0, 2]
    // At 0xc00 and 0xc20 of the image; at 0, 8, 16, 0x100 and 0x110 of the heap.
    memory.bitmaps = [
      0, 0, 0, 0, 0, 0, 1 | 1 << 4, 0, 0b111 | 1 << 32 | 1 << 34, 0, 0, 0, 0, 0, 0, 0,
    ]
    memory.values = [
      0x10_0d00, 0x10_0f00, 0x10_0c08, 0x50_0108, 0x50_0018, 0x10_0e00, 0x10_0f08,
    ]
    var places = VariablePlaces()
    places.addWitnesses(info, memory, images)
    #expect(places.witnesses == [0: [0xd00, 0xe00]])
    let embedder = SymbolEmbedder(
      stacks: stacks, images: images, variables: places, symbolicator: Files())
    let embedded = EmbeddedSymbolicator(embedder.chunks(), files: Gone())
    let sizes = [UInt64(0x10_0d00), 0x10_0e00, 0x10_0f00].map {
      embedded.swiftValueSize(witnesses: Address($0), in: images.images[0])
    }
    #expect(sizes == [24, 16, nil])
  }

  @Test func propertiesOfClassesMadeAtRunTimeAreFoundWithoutTheFiles() {
    let embedded = EmbeddedSymbolicator(chunks(Files()), files: Gone())
    func fields(_ metadata: UInt64) -> [SwiftField] {
      embedded.swiftFields(
        of: SwiftClassReference(descriptor: Address(0x10_0a00), metadata: Address(metadata)),
        in: images.images[0])
    }
    #expect(fields(0x9000).map { "\($0.name) \($0.offset)" } == ["first 16", "second 40"])
    #expect(fields(0x9100).isEmpty)
  }

  @Test func elementsOfArraysAreFoundWithoutTheFiles() {
    let (files, image) = (Files(), images.images[0])
    let embedded = EmbeddedSymbolicator(chunks(files), files: Gone())
    let elements = embedded.swiftElements(named: "app.Item", in: image)
    #expect(elements?.stride == 24)
    #expect(elements == files.swiftElements(named: "app.Item", in: image))
    #expect(embedded.swiftElements(named: "Swift.Int", in: image) == nil)
    #expect(embedded.swiftElements(named: "app.Item", in: images.images[1]) == nil)
  }

  @Test func placesInArraysHaveTheNamesOfElementsAndProperties() {
    let elements = SwiftElements(
      stride: 24,
      fields: [SwiftField(name: "owner", offset: 0), SwiftField(name: "flag", offset: 16)])
    let places: [UInt64] = [24, 32, 40, 48, 80]
    #expect(
      places.map(elements.name) == [nil, "[0].owner", "[0].owner", "[0].flag", "[2].owner"])
    #expect([0, 16].map(elements.property) == [".owner", ".flag"])
    #expect(SwiftElements(stride: 8).name(at: 48) == "[2]")
    #expect(SwiftElements(stride: 0).name(at: 48) == nil)
    #expect(SwiftElements(stride: 0).place(of: 48) == nil)
  }

  @Test func membersAreFoundWithoutTheFiles() {
    let embedded = EmbeddedSymbolicator(chunks(Files()), files: Gone())
    func member(_ type: String, _ offset: UInt64, _ code: UInt64 = 0x10_0100) -> BlockMember? {
      embedded.member(
        at: MemberPlace(type: type, isCxx: type != "struct Parser", size: 64, offset: offset),
        knownTo: Address(code), in: images.images[0])
    }
    #expect(member("Item[]", 8) == BlockMember(name: "[0].text"))
    #expect(member("Item[]", 56) == BlockMember(name: "[1].owner", isWeak: true))
    #expect(member("Item", 16) == BlockMember(name: "text"))
    #expect(member("Item", 0) == BlockMember(isUnused: true))
    #expect(member("Item", 12) == nil)
    #expect(member("Item", 32) == nil)
    #expect(member("Item", 8, 0x10_0201) == nil)
    #expect(member("Parser", 8, 0x10_0201) == BlockMember(name: "input"))
    #expect(member("struct Parser", 8) == nil)
  }

  @Test(arguments: [ReturnedText.text("leak:f\n"), .text(""), .unknown])
  func whatTheProgramHidesItselfIsFoundWithoutTheFiles(_ text: ReturnedText) {
    let files = Files()
    files.texts = ["/opt/app/app": text, "/opt/app/libold.so": .text("leak:g\n")]
    let gone = EmbeddedSymbolicator(chunks(files), files: Gone())
    func found(_ function: String, _ image: Int) -> ReturnedText? {
      gone.text(returnedBy: function, in: images.images[image])
    }
    #expect(found(ReturnedText.suppressions, 0) == text)
    // Of the program only.
    #expect(found(ReturnedText.suppressions, 1) == nil)
    #expect(found("other", 0) == nil)
    #expect(gone.warnings.isEmpty)
    let none = EmbeddedSymbolicator(chunks(Files()), files: files)
    #expect(none.text(returnedBy: ReturnedText.suppressions, in: images.images[0]) == text)
  }

  @Test func structuresThatAreAlikeAreWrittenOnce() {
    var encoder = SymbolChunkEncoder()
    let layout = StructureLayout(
      size: 32, runs: [.init(firstWord: 1, wordCount: 2, member: BlockMember(name: "a"))])
    encoder.add(layout, at: EmbeddedStructurePlace(image: 3, address: 0x42, type: "b"))
    encoder.add(layout, at: EmbeddedStructurePlace(image: 3, address: nil, type: "b"))
    #expect(
      encoder.content() == [
        1, 5, 2, 1, 0x61, 1, 0x62,  // strings: a, b
        2, 1, 0,
        10, 7, 1, 32, 1, 1, 2, 0, 0,  // one of 32 bytes with a run: 1 word on, of 2, a
        11, 9, 2, 3, 0x43, 1, 0, 3, 0, 1, 0,  // image 3: b, at 0x42 and anywhere
        0,
      ])
  }

  @Test func whatIsNotEmbeddedIsLookedForInFiles() {
    let embedded = EmbeddedSymbolicator([[0]], files: Files())
    let image = images.images[0]
    #expect(embedded.dataSymbol(at: Address(0x10_0908), in: image)?.offset == 8)
    #expect(embedded.vtableSymbol(at: Address(0x10_0800), in: image) == "_ZTV6Parser")
    let fields = embedded.swiftFields(
      of: SwiftClassReference(descriptor: Address(0x10_0a00), metadata: Address(0x10_0b00)),
      in: image)
    #expect(fields.count == 9)
  }

  @Test func lostNamesAreLookedForInFiles() {
    // The images are there, their frames are not.
    var encoder = SymbolChunkEncoder()
    encoder.add(image: 0, state: .read)
    encoder.add(image: 1, state: .read)
    let found = EmbeddedSymbolicator([encoder.content()], files: Files(), isWhole: false)
    #expect(allFrames(found) == allFrames(Files()))
    let gone = EmbeddedSymbolicator([encoder.content()], files: Gone(), isWhole: false)
    #expect(allFrames(gone)[0].map(\.displayName) == ["app+0x101"])
    #expect(Set(gone.warnings.map(\.imagePath)) == ["/opt/app/app", "/opt/app/libold.so"])
    let whole = EmbeddedSymbolicator([encoder.content()], files: Files())
    #expect(allFrames(whole)[0].map(\.displayName) == ["app+0x101"])
  }

  @Test func aCutChunkIsKnownAsSuch() {
    let whole = chunks(Files())[0]
    #expect(!EmbeddedSymbols([whole]).isDamaged)
    #expect(!EmbeddedSymbols([whole + [0, 0, 0]]).isDamaged)
    for count in 0..<whole.count {
      #expect(EmbeddedSymbols([Array(whole.prefix(count))]).isDamaged)
    }
  }

  @Test(arguments: [1024, 1025])
  func anAddressHasNoMoreFramesThanThereCanBe(count: Int) {
    var section: [UInt8] = [0, 1]  // image 0, one address
    section.appendZigzag(0x10)
    section.appendVarInt(UInt64(count))
    section += [UInt8](repeating: 0, count: count)
    var content: [UInt8] = [4]
    content.appendVarInt(UInt64(section.count))
    let symbols = EmbeddedSymbols([content + section + [0]])
    #expect(symbols.frames(at: 0x10, in: 0).count == (count > 1024 ? 0 : count))
    #expect(symbols.isDamaged == (count > 1024))
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
          location: SourceLocation(path: "a.c", line: 9), isInlined: false,
          isAllocationWrapper: true)
      ], at: 0x42)
    encoder.endImage(3)
    #expect(
      encoder.content() == [
        1, 7, 2, 1, 0x66, 3, 0x61, 0x2e, 0x63,  // strings: f, a.c
        2, 4, 1, 0x80, 0x01, 0,  // functions: plain, names follow from string 0
        3, 3, 1, 3, 1,  // images: image 3 was read
        4, 11, 3, 1,  // frames: image 3, one address
        0x84, 0x01, 1, 30, 0, 4, 1, 9, 0,  // at 0x42 one frame: flags, f, 2 before, a.c, 9, 0
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
