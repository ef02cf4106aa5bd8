import Testing
import TraceReader

@testable import Symbolication

/// The members of structures, from the compiler to their names.
@Suite struct StructureMembersTests {
  private static let bias: UInt64 = 0x7f00_0000_0000

  private let fixture: Fixture

  init() throws {
    fixture = try Fixture()
  }

  /// The member at each multiple of 8 that has one, as code of `function` knows them.
  private func members(
    of type: String, in program: String, size: UInt64, function: String = "main",
    isCxx: Bool = false
  ) throws -> [String] {
    try contents(of: type, in: program, size: size, function: function, isCxx: isCxx)
      .filter { !$0.member.name.isEmpty }.map { offset, member in
        "\(member.name)\(member.isWeak ? " weak" : "") \(offset)"
      }
  }

  /// The multiples of 8 where no pointer can be.
  private func unused(
    of type: String, in program: String, size: UInt64, isCxx: Bool = false
  ) throws -> [UInt64] {
    try contents(of: type, in: program, size: size, isCxx: isCxx)
      .filter(\.member.isUnused).map(\.offset)
  }

  private func contents(
    of type: String, in program: String, size: UInt64, function: String = "main",
    isCxx: Bool = false
  ) throws -> [(offset: UInt64, member: BlockMember)] {
    let symbols = try Fixture.run("nm", ["-C", program]).split(separator: "\n")
    let line = try #require(symbols.first { $0.hasSuffix(" T \(function)") })
    let address = try #require(UInt64(line.prefix { $0 != " " }, radix: 16))
    let symbolicator = ELFSymbolicator(debugDirectories: [])
    return stride(from: 0, to: size, by: 8).compactMap { offset in
      symbolicator.member(
        at: MemberPlace(type: type, isCxx: isCxx, size: size, offset: offset),
        knownTo: Address(address + Self.bias), in: Image.of(program, bias: Self.bias)
      ).map { (offset, $0) }
    }
  }

  /// Whatever is there was there before the block.
  @Test func wordsThatHoldNoPointer() throws {
    let plain = try fixture.compile("members.c", with: "gcc", ["-g"], to: "plain")
    func unused(of type: String, size: UInt64) throws -> [UInt64] {
      try self.unused(of: type, in: plain, size: size)
    }
    #expect(try unused(of: "struct node", size: 144) == [0, 32, 96])
    #expect(try unused(of: "value", size: 24) == [])
    #expect(try unused(of: "struct link[]", size: 32) == [])
    #expect(try unused(of: "struct other", size: 16) == [])
    let program = try fixture.compile("members.cpp", with: "g++", ["-g"], to: "program")
    func unusedOfCxx(_ type: String, size: UInt64) throws -> [UInt64] {
      try self.unused(of: type, in: program, size: size, isCxx: true)
    }
    #expect(try unusedOfCxx("app::Node", size: 144) == [24, 32, 40])
    #expect(try unusedOfCxx("app::Box<int>[]", size: 40) == [8, 24])
    // Where nothing says where members are, and of a virtual base, which is somewhere, nothing is known.
    let old = try fixture.compile("members.c", with: "gcc", ["-g", "-gdwarf-2"], to: "old")
    #expect(try self.unused(of: "struct node", in: old, size: 144) == [])
    #expect(try unusedOfCxx("app::Shared", size: 32) == [])
  }

  @Test(
    arguments: ["gcc", "clang"], [["-O0"], ["-O2"], ["-gdwarf-4"]])
  func structuresOfC(compiler: String, options: [String]) throws {
    let program = try fixture.compile(
      "members.c", with: compiler, ["-g"] + options, to: "program")
    #expect(
      try members(of: "struct node", in: program, size: 144) == [
        "links.next 8", "links.previous 16", "text 24", "nested.inner 40", "small 48", "small 56",
        "slots[0] 64", "slots[1] 72", "slots[2] 80", "count 88", "tail[0].next 104",
        "tail[0].previous 112", "tail[1].next 120", "tail[1].previous 128", "tail[2].next 136",
      ])
    #expect(try members(of: "Unnamed", in: program, size: 8) == ["first 0"])
    #expect(
      try members(of: "value", in: program, size: 24) == ["node 0", "bytes 8", "bytes 16"])
    #expect(try members(of: "union value", in: program, size: 8) == ["node 0"])
    #expect(
      try members(of: "struct link[]", in: program, size: 32) == [
        "[0].next 0", "[0].previous 8", "[1].next 16", "[1].previous 24",
      ])
    #expect(try members(of: "char *[]", in: program, size: 16) == ["[0] 0", "[1] 8"])
    #expect(try members(of: "struct other", in: program, size: 16) == [])
    #expect(try members(of: "struct link[]", in: program, size: 40) == [])
  }

  @Test(arguments: ["g++", "clang++"])
  func classesOfCxx(compiler: String) throws {
    let program = try fixture.compile("members.cpp", with: compiler, ["-g"], to: "program")
    func members(of type: String, size: UInt64) throws -> [String] {
      try self.members(of: type, in: program, size: size, isCxx: true)
    }
    let node = [
      "owner 8", "name 16", "name 24", "name 32", "name 40", "next 48", "next 56", "items 64",
      "items 72", "items 80", "box 88", "call 96", "call 104", "call 112", "call 120",
      "before weak 128", "before weak 136",
    ]
    let found = try members(of: "app::Node", size: 144)
    #expect(found.filter { !$0.hasSuffix(" 0") } == node)
    #expect(try members(of: "Node", size: 16).last == "owner 8")
    #expect(try members(of: "app::Box<int>", size: 16) == ["link 8"])
    #expect(try members(of: "Box<long>", size: 16) == ["value 0", "link 8"])
    #expect(
      try members(of: "app::Box<int>[]", size: 40) == ["[0].link 16", "[1].link 32"])
    let shared = "std::_Sp_counted_ptr_inplace<app::Box<int>, std::allocator<void>, (X)2>"
    #expect(try members(of: shared, size: 32) == ["link 24"])
    #expect(try members(of: "std::string storage", size: 16) == [])
    #expect(
      try members(of: "std::vector<app::Box<long>> storage", size: 32) == [
        "[0].value 0", "[0].link 8", "[1].value 16", "[1].link 24",
      ])
    for pointer in ["app::Node*", "std::unique_ptr<app::Node>"] {
      #expect(try members(of: "std::vector<\(pointer)> storage", size: 16) == ["[0] 0", "[1] 8"])
    }
    for vector in [
      "std::vector<std::unique_ptr<app::Node, Last>>", "std::vector<app::Box<int>, Pool>",
    ] {
      #expect(try members(of: "\(vector) storage", size: 16) == [])
    }
  }

  /// The address of the characters is behind the allocator, unless that is empty.
  @Test func textsWithAllocators() throws {
    let program = try fixture.compile(
      "texts.cpp", with: "g++", ["-g", "-std=c++17"], to: "program")
    func unused(of type: String, size: UInt64) throws -> [UInt64] {
      try self.unused(of: type, in: program, size: size, isCxx: true)
    }
    #expect(try unused(of: "Texts", size: 112) == [8, 16, 24, 48, 56, 64, 88, 96, 104])
    let node = "std::pmr::map<int, std::pmr::string> node"
    #expect(try unused(of: node, size: 80) == [32, 56, 64, 72])
    #expect(
      try members(of: node, in: program, size: 80, isCxx: true).prefix(2) == [
        "value 40", "value 48",
      ])
  }

  /// As compilers describe most classes with virtual functions.
  @Test(arguments: ["g++", "clang++"])
  func classesOfOtherUnits(compiler: String) throws {
    let program = try fixture.compile(
      "homed_class_user.cpp", with: compiler, ["-g", Fixture.source("homed_class.cpp")],
      to: "program")
    let found = try members(of: "app::Homed", in: program, size: 24, isCxx: true)
    #expect(found.dropFirst() == ["next 8", "name 16"])
    let derived = try members(of: "app::Derived", in: program, size: 56, isCxx: true)
    #expect(
      derived.dropFirst() == ["next 8", "name 16", "name 24", "name 32", "name 40", "twin 48"])
    #expect(try members(of: "app::Other", in: program, size: 24, isCxx: true) == [])
    #expect(try members(of: "app::Homed", in: program, size: 24) == [])
  }

  @Test(arguments: ["g++", "clang++"], ["-O0", "-O2"])
  func containersOfCxx(compiler: String, level: String) throws {
    let program = try fixture.compile(
      "containers.cpp", with: compiler, ["-g", "-std=c++17", level], to: "program")
    func members(of type: String, size: UInt64) throws -> [String] {
      try self.members(of: type, in: program, size: size, isCxx: true)
    }
    let item = ["element.number 16", "element.name 24", "element.name 32", "element.name 40"]
    #expect(
      try members(of: "std::map<std::string, app::Item> node", size: 112) == [
        "key 32", "key 40", "key 48", "key 56", "value.number 64", "value.name 72",
        "value.name 80", "value.name 88", "value.name 96", "value.other 104",
      ])
    #expect(
      try members(of: "std::multimap<unsigned long, app::Item const*> node", size: 48) == [
        "key 32", "value 40",
      ])
    #expect(
      try members(of: "std::map<int, (anonymous namespace)::Hidden> node", size: 48) == [
        "value.held 40"
      ])
    #expect(
      try members(of: "std::set<std::unique_ptr<app::Item>> node", size: 40) == ["element 32"])
    #expect(try members(of: "std::multiset<app::Item*> node", size: 40) == ["element 32"])
    #expect(
      try members(of: "std::unordered_map<long, std::weak_ptr<app::Item>> node", size: 32) == [
        "key 8", "value weak 16", "value weak 24",
      ])
    #expect(
      try members(of: "std::unordered_map<std::string, int> node", size: 56) == [
        "key 8", "key 16", "key 24", "key 32",
      ])
    #expect(
      try members(of: "std::list<app::Item> node", size: 64) == item + [
        "element.name 48", "element.other 56",
      ])
    #expect(try members(of: "std::forward_list<app::Item*> node", size: 16) == ["element 8"])
    #expect(
      try members(of: "std::vector<std::vector<int>> storage", size: 48) == [
        "[0] 0", "[0] 8", "[0] 16", "[1] 24", "[1] 32", "[1] 40",
      ])
    #expect(
      try members(of: "std::vector<std::pair<long, app::Item>> storage", size: 56) == [
        "[0].first 0", "[0].second.number 8", "[0].second.name 16", "[0].second.name 24",
        "[0].second.name 32", "[0].second.name 40", "[0].second.other 48",
      ])
    #expect(
      try members(of: "std::vector<std::weak_ptr<app::Item>> storage", size: 16) == [
        "[0] weak 0", "[0] weak 8",
      ])
    let queue = try members(of: "std::deque<app::Item> storage", size: 480)
    #expect(queue.count == 60)
    #expect(queue[6...7] == ["element.number 48", "element.name 56"])
    #expect(
      try members(of: "std::deque<app::Item*> storage", size: 512).last == "element 504")
    for (type, size) in [
      // Another library, an allocator of the program's, another size, no node.
      ("std::map<long, app::Item> node", 104), ("std::list<app::Item, Pool> node", 64),
      ("std::map<std::string, app::Item> node", 120), ("std::deque<app::Item> storage", 64),
      ("std::unordered_map<std::string, int> buckets", 104), ("std::set<> node", 40),
    ] as [(String, UInt64)] {
      #expect(try members(of: type, size: size) == [])
    }
  }

  /// As in debug files of distributions: what both units have lies in a third one.
  @Test func structuresThatUnitsShare() throws {
    let program = try fixture.compile(
      "members.c", with: "gcc",
      ["-g", "-c", "-Dmain=other", "-Dmake=m", "-Dunnamed=u", "-Dvariant=v"], to: "other.o")
    let both = try fixture.compile("members.c", with: "gcc", ["-g", program], to: "program")
    let plain = try members(of: "struct node", in: both, size: 144)
    #expect(plain.count == 15)
    try Fixture.run("dwz", [both])
    #expect(
      try Fixture.run("readelf", ["--debug-dump=info", both]).contains("DW_TAG_partial_unit"))
    #expect(try members(of: "struct node", in: both, size: 144) == plain)
    #expect(
      try members(of: "struct node", in: both, size: 144, function: "other") == plain)
  }

  /// Link-time optimisation makes a unit of the code of all, and leaves types in those of the sources.
  @Test func structuresOfCodeThatTheLinkerMade() throws {
    let program = try fixture.compile(
      "containers.cpp", with: "g++", ["-g", "-std=c++17", "-O2", "-flto"], to: "program")
    #expect(
      try members(of: "std::multiset<app::Item*> node", in: program, size: 40, isCxx: true) == [
        "element 32"
      ])
    let plain = try fixture.compile("members.c", with: "gcc", ["-g", "-O2", "-flto"], to: "plain")
    #expect(try members(of: "Unnamed", in: plain, size: 8) == ["first 0"])
  }

  @Test func withoutDebugInformationNothingIsSaid() throws {
    let program = try fixture.compile("members.c", with: "gcc", ["-g1"], to: "program")
    #expect(try members(of: "struct node", in: program, size: 144) == [])
  }
}
