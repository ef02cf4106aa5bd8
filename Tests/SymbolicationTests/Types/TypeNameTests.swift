import Testing
import TraceReader

@testable import Symbolication

@Suite struct TypeNameTests {
  @Test(arguments: [
    ("main.Node", "main.Node"),
    ("main.Pair<Swift.Int, Swift.String>", "main.Pair<Int, String>"),
    ("main.Swift.Thing", "main.Swift.Thing"),
    ("Swift._ContiguousArrayStorage<Swift.UInt8>", "Array<UInt8> storage"),
    ("Swift._DictionaryStorage<Swift.String, main.Node>", "Dictionary<String, main.Node> storage"),
    ("Swift._SetStorage<Swift.Int>", "Set<Int> storage"),
    ("main.Address<__C.sockaddr_in, main.__C.Thing>", "main.Address<sockaddr_in, main.__C.Thing>"),
    ("Swift.__StringStorage", "String storage"),
  ])
  func swiftClassesAreNamedAsInPrograms(recorded: String, expected: String) {
    #expect(SwiftTypeNames.ofClass(recorded) == expected)
  }

  @Test(arguments: [
    ("", "Closure context"),
    ("[Si]", "Box<Int>"),
    ("[Siz_Xx][4main4LeafC]", "Closure context {var Int, main.Leaf}"),
    ("[4main4TreeO_4main4TreeOt]", "Box<(main.Tree, main.Tree)>"),
    ("[4main4LeafCSgXw]", "Closure context {weak Optional<main.Leaf>}"),
    ("[SiIegd_]", "Closure context {() -> Int}"),
    ("[SiSSIegyr_]", "Closure context {(Int) -> String}"),
    ("[s5Int32VIetCy_]", "Closure context {(Int32) -> ()}"),
    ("[SiSSs5ErrorP_pIeghHyozo_]", "Closure context {(Int) async throws -> String}"),
    ("[BAIeghHgIL_]", "Closure context {() async -> ()}"),
    ("[BASSIeghHgILg_]", "Closure context {(String) async -> ()}"),
    ("[4main7FailureVIegzo_]", "Closure context {() throws(main.Failure) -> ()}"),
    ("[SiIegd_Sg]", "Closure context {Optional<() -> Int>}"),
    ("[SSSiIegy_Iegyo_]", "Closure context {(String) -> (Int) -> ()}"),
    (
      "[4main5QueueCyxGSgXwz_Si_lXX][Si]",
      "Closure context {var weak Optional<main.Queue<Int>>, Int}"
    ),
    (
      "[4main5QueueCyxGSgXwz_SaySSG_lXX]",
      "Closure context {var weak Optional<main.Queue<Array<String>>>}"
    ),
    ("[xz_x_lXX]", "Closure context {var T}"),
    (
      "[4main3OutV2InVyx_qd__G_qd0__tz_Si_SSSdr___lXX][Sd]",
      "Closure context {var (main.Out<Int>.In<String>, Double), Double}"
    ),
    ("[xxQp_tz_Si_SSQP_RvzlXX][Si_SSt]", "Closure context {var (Int, String), (Int, String)}"),
    ("[xxQp_tz_xxQp_QP_RvzlXX][Si]", "Closure context {var (repeat T), Int}"),
    ("[Si_SSQSiIegk_][Si]", "Closure context {() -> (Int, String), Int}"),
    ("[xxQp_QSiIegk_][Si]", "Closure context {() -> (repeat T), Int}"),
    ("[7ElementSTQzq_Iegnn_]", "Closure context {(T.Element, U) -> ()}"),
    ("[Say7ElementSTQzG]", "Box<Array<T.Element>>"),
    ("[1A1BO1CO1DV]", "Box<A.B.C.D>"),
    ("[1A1BV]", "Box<A.B>"),
    ("[qd0__][Si]", "Closure context {T2, Int}"),
    ("[][Si]", "Closure context {?, Int}"),
    ("[&&]", "Closure context {?}"),
  ])
  func capturesAreDemangled(recorded: String, expected: String) {
    #expect(SwiftTypeNames.ofCaptures(recorded) == expected)
  }

  @Test func parametersAreReplacedByTheirArguments() {
    func replaced(_ name: String, _ arguments: [String] = ["X<A, B>", "Y"]) -> String {
      GenericParameters.replacing(["A", "B"], by: arguments, in: name)
    }
    #expect(replaced("(A, B) -> [A]") == "(X<A, B>, Y) -> [X<A, B>]")
    #expect(
      replaced("A.Box<B>, AB, A.Swift.Sequence.Element") == "A.Box<Y>, AB, A.Swift.Sequence.Element"
    )
    #expect(replaced("(A, B)", ["X"]) == "(A, B)")
    #expect(
      GenericParameters.withoutProtocols("A1.app.P.X.Swift.Sequence.Element") == "A1.X.Element")
    #expect(
      GenericParameters.withoutProtocols("(app.P.X.Y, A.Element, B..)")
        == "(app.P.X.Y, A.Element, B..)")
  }

  @Test(arguments: [
    ("$e3app4NodeCN", "app.Node"), ("$e3app4TreeCySaySiGGN", "app.Tree<Array<Int>>"),
    ("$es23_ContiguousArrayStorageCySiGN", "Array<Int> storage"), ("$e3app4NodeCfD", nil),
    ("$s3app4NodeCN", nil), ("$eN", nil),
  ])
  func embeddedClassesAreNamedByTheirMetadata(symbol: String, expected: String?) {
    #expect(SwiftTypeNames.ofEmbeddedMetadata(symbol)?.short == expected)
  }

  @Test func cxxClassesAreDemangledAndShortened() {
    let name = CxxTypeNames.ofClass("4TmplINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEE")
    #expect(name?.short == "Tmpl<std::string>")
    #expect(name?.language == .cxx)
    #expect(
      CxxTypeNames.ofClass("N12_GLOBAL__N_16HiddenE")?.short == "(anonymous namespace)::Hidden")
    #expect(CxxTypeNames.ofClass("no name") == nil)
    #expect(CxxTypeNames.ofVTable("_ZTVN3geo6CircleE")?.short == "geo::Circle")
    #expect(CxxTypeNames.ofVTable("_ZTIN3geo6CircleE") == nil)
    #expect(CxxTypeNames.ofTypeInfo("_ZTIN3geo6CircleE")?.short == "geo::Circle")
    #expect(CxxTypeNames.ofTypeInfo("_ZTIi")?.short == "int")
    #expect(CxxTypeNames.ofTypeInfo("_ZTVN3geo6CircleE") == nil)
  }

  @Test(arguments: [
    ("_ZN3geo6CircleD0Ev", "geo::Circle"), ("_ZN3geo6CircleD2Ev", nil), ("main", nil),
    ("_ZN4TmplIiED0Ev", "Tmpl<int>"),
  ])
  func onlyADeletingDestructorNamesItsClass(symbol: String, expected: String?) {
    #expect(DeletingDestructor.className(Demangler.name(of: symbol)) == expected)
  }

  @Test func aTypeIsNamedWithItsImage() {
    var types = TypeTable()
    let id = TypeID(rawValue: 4)
    types.add(
      BlockType(
        id: id, kind: .swiftError, name: "app.Failure", words: [0x9000],
        definition: Address(0x1080), time: EventTime(5)))
    types.add(BlockType(id: TypeID(rawValue: 5), kind: .cxxVTable, name: "", words: [0x1090]))
    let app = Image(
      index: 0, path: "/opt/app", loadBias: 0, start: Address(0x1000), end: Address(0x2000),
      textStart: Address(0x1000), textEnd: Address(0x2000))
    let names = TypeNames(types: types, images: ImageMap(images: [app]))

    #expect(
      names.name(of: id)
        == TypeName(
          short: "Error box<app.Failure>", full: "Error box<app.Failure>", language: .swift,
          imagePath: "/opt/app"))
    #expect(names.name(of: TypeID(rawValue: 5)) == nil, "no symbol says that it is a vtable")
    #expect(names.name(of: TypeID(rawValue: 6)) == nil)
    #expect(names.name(describedAt: Address(0x1080), at: EventTime(5)) == nil)
  }

  @Test func aDescriptionNamesItsClass() {
    var types = TypeTable()
    types.add(
      BlockType(
        id: TypeID(rawValue: 4), kind: .cxxClass, name: "N3app7FailureE", words: [0x9000],
        definition: Address(0x1080), time: EventTime(5)))
    let names = TypeNames(types: types, images: ImageMap(images: []))

    #expect(names.name(describedAt: Address(0x1080), at: EventTime(5))?.short == "app::Failure")
    #expect(names.name(describedAt: Address(0x1088), at: EventTime(5)) == nil)
  }
}
