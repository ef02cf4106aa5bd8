import Testing

@testable import Symbolication

@Suite("Shortening of Swift names")
struct SwiftNamesTests {
  @Test(
    "keeps the type, the function and the labels",
    arguments: [
      ("t.makeClosure(t.Base) -> () -> Swift.Int", "makeClosure(_:)"),
      ("m.NS.Deep.deep<A>(_: A1, lbl: A) -> [A1]", "NS.Deep.deep(_:lbl:)"),
      ("static m.Foo.make(x: Swift.Int, y: Swift.String) -> m.Foo", "static Foo.make(x:y:)"),
      ("static m.Foo.< infix(m.Foo, m.Foo) -> Swift.Bool", "static Foo.<(_:_:)"),
      ("static Swift.Int.== infix(Swift.Int, Swift.Int) -> Swift.Bool", "static Int.==(_:_:)"),
      ("m.Foo.bar((Swift.Int) -> Swift.Int) -> Swift.Int", "Foo.bar(_:)"),
      ("m.Foo.x.getter : Swift.Int", "Foo.x.getter"),
      ("m.NS.Deep.t.modify : A with unmangled suffix \".resume.0\"", "NS.Deep.t.modify"),
      ("m.Foo.subscript.getter : (Swift.Int) -> Swift.Int", "Foo.subscript.getter"),
      ("m.Foo.__allocating_init() -> m.Foo", "Foo.__allocating_init()"),
      ("m.Foo.deinit", "Foo.deinit"),
      (
        "Swift.print(_: Any..., separator: Swift.String, terminator: Swift.String) -> ()",
        "print(_:separator:terminator:)"
      ),
      ("m.(P in _F3388FBAA0297E3C).next() -> Swift.Int?", "P.next()"),
      ("m.Foo.(priv in _F3388F)(a: Swift.Int) async throws -> [Swift.Int]", "Foo.priv(a:)"),
      (
        "(extension in m):Swift.Array<A where A == Swift.Int>.total(from: Swift.Int) -> Swift.Int",
        "Array.total(from:)"
      ),
      (
        "(extension in Swift):Swift.Collection.map<A, B where B1: Swift.Error>"
          + "((A.Element) throws(B1) -> A1) throws(B1) -> [A1]", "Collection.map(_:)"
      ),
      ("app.handle@Sendable (Swift.Int, x: Swift.Int) async -> ()", "handle(_:x:)"),
      (
        "app.S.h<A where A: Swift.Sendable>@Sendable (A) async -> @Sendable (A) -> A", "S.h(_:)"
      ),
      (
        "local #1 @Sendable (y: Swift.Int) -> Swift.Int in app.A.n@Sendable (x: Swift.Int) -> Swift.Int",
        "local(y:) in A.n(x:)"
      ),
      (
        "(2) await resume partial function for app.S.init@Sendable (z: Swift.Int) -> app.S",
        "S.init(z:)"
      ),
      ("main", "main"),
    ])
  func functions(full: String, short: String) {
    #expect(SwiftNames.short(full) == short)
  }

  @Test(
    "keeps what a closure is in",
    arguments: [
      (
        "closure #1 (Swift.Int) -> Swift.Int in t.Foo.bar(t.Foo) -> ()",
        "closure #1 in Foo.bar(_:)"
      ),
      (
        "closure #1 () -> Swift.Int in inner #1 (q: Swift.Int) -> Swift.Int in m.Foo.go() async -> ()",
        "closure #1 in inner(q:) in Foo.go()"
      ),
      (
        "closure #1 (Swift.Int) -> () in default argument 1 of "
          + "m.dflt(a: Swift.Int, b: (Swift.Int) -> ()) -> ()",
        "closure #1 in default argument 1 of dflt(a:b:)"
      ),
      (
        "implicit closure #1 (Swift.Int, Swift.Int) -> Swift.Int in "
          + "(extension in m):Swift.Array<A where A == Swift.Int>.total(from: Swift.Int) -> Swift.Int",
        "implicit closure #1 in Array.total(from:)"
      ),
      ("closure #1 (Swift.Int) -> Swift.Int in m", "closure #1 in m"),
      (
        "partial apply forwarder for closure #1 (Swift.Int) -> Swift.Int in m.Foo.go() async -> ()",
        "partial apply for closure #1 in Foo.go()"
      ),
      ("$defer #1 () -> () in t.foo() -> ()", "$defer() in foo()"),
    ])
  func closures(full: String, short: String) {
    #expect(SwiftNames.short(full) == short)
  }

  @Test(
    "drops what the compiler made of it",
    arguments: [
      (
        "generic specialization <Swift.Int, m.Foo<Swift.Int>> of Swift.Array.append(__owned A) -> ()",
        "Array.append(_:)"
      ),
      (
        "function signature specialization <Arg[0] = Owned To Guaranteed> of t.foo() -> ()", "foo()"
      ),
      (
        "merged generic partial specialization <Swift.Int> of t.foo(x: Swift.Int) -> ()",
        "foo(x:) [merged]"
      ),
      ("(1) await resume partial function for m.Foo.go() async -> ()", "Foo.go()"),
      ("(2) suspend resume partial function for m.Foo.go() async -> ()", "Foo.go()"),
      ("async function pointer to m.Foo.go2() async -> ()", "Foo.go2()"),
      (
        "reabstraction thunk helper from @escaping @callee_guaranteed () -> () to () -> (@out ())",
        "reabstraction thunk"
      ),
      (
        "protocol witness for Swift.Sequence.makeIterator() -> A.Iterator in conformance "
          + "m.(P in _F3388FBAA) : Swift.Sequence in m",
        "protocol witness for Sequence.makeIterator() in conformance P"
      ),
      ("variable initialization expression of m.Foo.x : Swift.Int", "initial value of Foo.x"),
      (
        "type metadata accessor for m.NS.Deep<Swift.Int>",
        "type metadata accessor for NS.Deep<Int>"
      ),
      ("destroy value witness for m.NS.Deep", "destroy value witness for NS.Deep"),
      ("outlined destroy of Swift.ContiguousArray<A1>", "outlined destroy of ContiguousArray<A1>"),
    ])
  func wrappers(full: String, short: String) {
    #expect(SwiftNames.short(full) == short)
  }

  @Test(
    "says of merged functions that another may be meant",
    arguments: [
      ("merged mg.makeBeta(Swift.Int) -> mg.A1", "makeBeta(_:) [merged]", "makeBeta [merged]"),
      (
        "merged partial apply forwarder for closure #1 (Swift.Int) -> () in a.Model.bind() -> ()",
        "partial apply for closure #1 in Model.bind() [merged]",
        "partial apply for closure #1 in Model.bind [merged]"
      ),
      (
        "function signature specialization <Arg[0] = Dead> of merged merged a.f() -> ()",
        "f() [merged]", "f [merged]"
      ),
    ])
  func merged(full: String, short: String, base: String) {
    #expect(SwiftNames.short(full) == short)
    #expect(SwiftNames.withoutLabels(short) == base)
  }

  @Test(
    "finds the function behind a specialization with open brackets",
    arguments: [
      (
        "function signature specialization <Arg[0] = Owned To Guaranteed> of function signature "
          + "specialization <Arg[1] = [Closure Propagated : $s2cs3runySiSaySiGFAA2A2CSiXEfU_, "
          + "Argument Types : [Swift.Array<Swift.Int>]> of cs.withEach(Swift.Array<Swift.Int>, "
          + "(Swift.Int) -> cs.A2) -> Swift.Int", "withEach(_:_:)"
      ),
      (
        "function signature specialization <Arg[0] = [Closure Propagated : $s1m2goyyFyycfU_, "
          + "Argument Types : [], Arg[1] = Dead> of m.each(Swift.Array<() -> ()>) -> ()", "each(_:)"
      ),
      (
        "function signature specialization <Arg[0] = [Constant Propagated String : u8'a<b']> of "
          + "m.say(Swift.String) -> ()", "say(_:)"
      ),
    ])
  func openBrackets(full: String, short: String) {
    #expect(SwiftNames.short(full) == short)
  }

  @Test("demangles the closures that functions were specialized for")
  func propagatedClosures() {
    let name = Demangler.name(of: "$s4s1_O3oneyyyAA4HoldCXEF017$s4s1_O2goyyFyAA4C6CXEfU_Tf1c_n")
    #expect(name.short == "one(_:)")
    #expect(!name.full.contains("$s"))
  }

  @Test(
    "keeps what belongs to properties and parameters",
    arguments: [
      (
        "property wrapper backing initializer of a.Model.count : Swift.Int",
        "property wrapper initializer of Model.count"
      ),
      (
        "property wrapped field init accessor of a.M2.other : Swift.Optional<a.M2>",
        "property wrapper initializer of M2.other"
      ),
      ("key path getter for cs.Ctx.v : Swift.Int : cs.Ctx", "key path getter for Ctx.v"),
      (
        "key path setter for cs.Ctx.subscript(Swift.Int) -> Swift.Int : cs.Ctx",
        "key path setter for Ctx.subscript(_:)"
      ),
      (
        "closure #1 () -> Swift.Int in variable initialization expression of static r.Ctx.st : "
          + "Swift.Int", "closure #1 in initial value of static Ctx.st"
      ),
      (
        "default argument 0 of r.escaping((Swift.Int) -> ()) -> ()",
        "default argument 0 of escaping(_:)"
      ),
      (
        "default argument 1 of static r.Ctx.f(x: Swift.Int, y: Swift.Int) -> ()",
        "default argument 1 of static Ctx.f(x:y:)"
      ),
      ("partial apply forwarder", "partial apply forwarder"),
      (
        "getter of acc #1 : Swift.Int in a.Foo.f() -> ()", "getter of acc #1 : Int in Foo.f()"
      ),
      ("m() -> a.A2 in L #1 in a.opaque() -> some", "m() in L in opaque()"),
      (
        "type metadata accessor for m.Holder.Nested.Deep",
        "type metadata accessor for Holder.Nested.Deep"
      ),
    ])
  func parts(full: String, short: String) {
    #expect(SwiftNames.short(full) == short)
  }

  @Test(
    "takes what stands in backticks as it is",
    arguments: [
      ("r.`what is in the box`() -> ()", "`what is in the box`()", "`what is in the box`"),
      (
        "r.`adds two numbers (quickly)`(x: Swift.Int, `the other`: Swift.Int) -> ()",
        "`adds two numbers (quickly)`(x:`the other`:)", "`adds two numbers (quickly)`"
      ),
      (
        "closure #1 () -> () in r.`My Suite`.`test <generic> & more.`() -> ()",
        "closure #1 in `My Suite`.`test <generic> & more.`()",
        "closure #1 in `My Suite`.`test <generic> & more.`"
      ),
      ("r.(`a (b in _c` in _F3388F)(Swift.Int) -> ()", "`a (b in _c`(_:)", "`a (b in _c`"),
      (
        "type metadata accessor for r.`My Suite`.`Inner a.b Type`",
        "type metadata accessor for `My Suite`.`Inner a.b Type`",
        "type metadata accessor for `My Suite`.`Inner a.b Type`"
      ),
      (
        "peer macro @Test expansion #1 of `a book in a shelf (leaks)` in LibTests",
        "@Test `a book in a shelf (leaks)`", "@Test `a book in a shelf (leaks)`"
      ),
    ])
  func rawIdentifiers(full: String, short: String, base: String) {
    #expect(SwiftNames.short(full) == short)
    #expect(SwiftNames.withoutLabels(short) == base)
  }

  @Test("demangles by the runtime", arguments: ["$s1t11makeClosureySiycAA4BaseCF"])
  func demangles(symbol: String) {
    let name = Demangler.name(of: symbol)
    #expect(name.full == "t.makeClosure(t.Base) -> () -> Swift.Int")
    #expect(name.short == "makeClosure(_:)")
    #expect(name.base == "makeClosure")
    #expect(name.language == .swift)
  }

  @Test(
    "knows the module of a symbol",
    arguments: [
      ("$s1t3FooV3baryyF", "t"), ("$ss5print_9separator10terminatoryypd_S2StF", "Swift"),
      ("$sSa6appendyyxnF", "Swift"), ("$sSo6stdoutSpySo8_IO_FILEVGSgvp", nil),
      ("$s10Foundation4DataV", "Foundation"), ("$s99x", nil), ("$s", nil), ("main", nil),
    ] as [(String, String?)])
  func modules(symbol: String, module: String?) {
    #expect(SwiftNames.module(of: symbol) == module)
  }

  @Test(
    "the parts of asynchronous main code have one name",
    arguments: [
      ("async_MainTY1_", "async_Main"), ("async_MainTQ0_", "async_Main"),
      ("async_Main", "async_Main"), ("async_MainTable_", "async_MainTable_"),
      ("async_Mainly", "async_Mainly"),
    ])
  func asynchronousMain(symbol: String, name: String) {
    #expect(Demangler.name(of: symbol).short == name)
  }

  /// `f(_: (P, S<P, P>, S<S<P, P>, S<P, P>>, …))`: each element is twice as long as the one before.
  private static func doubled(_ times: Int) -> String {
    let elements = (0..<times).map { "ADyA2\(Unicode.Scalar(UInt8(69 + $0)))G" }
    return "$s1m1fyyAA1SVyS2iG_" + elements.joined() + "t_tF"
  }

  @Test("stops at a name that stands for gigabytes")
  func bomb() {
    for times in 20...21 {
      let symbol = Self.doubled(times)
      let name = Demangler.name(of: symbol)
      #expect(name.language == .plain && name.full == symbol)
    }
  }

  @Test("takes long names for what they are", arguments: [1, 9])
  func longNames(times: Int) {
    let full = Demangler.name(of: Self.doubled(times)).full
    #expect(full.hasPrefix("m.f((m.S<Swift.Int, Swift.Int>, m.S<m.S<Swift.Int, Swift.Int>, m.S"))
    #expect(
      full.split(separator: "Swift.Int", omittingEmptySubsequences: false).count - 1
        == (2 << (times + 1)) - 2)
  }

  /// Such a private discriminator looks like many repetitions: it is looked at with care only.
  @Test("demangles names that look long and are not")
  func looksLong() {
    let name = Demangler.name(
      of:
        "$s7Reports14OpenReferences33_A003ADA8B9B22333A95F8F8861B55A23LLV3addyySi_AA14RefcountLedgerV6ChangeVtF"
    )
    #expect(name.short == "OpenReferences.add(_:_:)")
  }

  @Test(
    "what a macro writes has the name of the macro",
    arguments: [
      (
        "$s12ReportsTests010GenerationB0V04$s12a8Tests010C53B0V16samplesAreScaled4TestfMp_"
          + "17Z4c6de2cff8f95ac3fMu_33_943C383754651F3D343DCF1D333AC200LLyyYaYbKFZ",
        "static GenerationTests.@Test samplesAreScaled"
      ),
      (
        "$s12ReportsTests010GenerationB0V04$s12a8Tests010C53B0V16samplesAreScaled4TestfMp_"
          + "17Z4c6de2cff8f95ac3fMu_33_943C383754651F3D343DCF1D333AC200LLyyYaYbKFZ"
          + "0daecfghijK14_7__localfMu0_L_yyScA_pSgYiYaYbKF",
        "__local of @Test samplesAreScaled in static GenerationTests.@Test samplesAreScaled"
      ),
      (
        "@__swiftmacro_13LeakGateTests0024BaselineTestsswift_ynAHffMX56_16_6expectfMf_", "#expect"
      ),
      ("$s15CInterposeTests05ArenaB05SuitefMp_9generatorfMu_", "generator of @Suite ArenaTests"),
    ])
  func macros(symbol: String, name: String) {
    #expect(Demangler.name(of: symbol).short == name)
  }

  @Test(
    "macros that other names are in",
    arguments: [
      (
        "closure #1 () -> () in freestanding macro expansion #2 of expect in module m file f.swift "
          + "line 1 column 5", "closure #1 in #expect"
      ),
      (
        "static LeakGateTests.BaselineTests.$s13LeakGateTests08BaselineC0V013whatIsWrittenF8ReadBack"
          + "4TestfMp_16c2ae8545149f1dacfMu_() -> ()",
        "static BaselineTests.@Test whatIsWrittenIsReadBack()"
      ),
      ("m.(fMu_ in _F3).f(x: Swift.Int) -> ()", "fMu_.f(x:)"),
      ("m.$sfM_.f() -> ()", "$sfM_.f()"),
    ])
  func partsOfMacros(full: String, short: String) {
    #expect(SwiftNames.short(full) == short)
  }

  @Test(
    "the code of a macro has the place of the macro",
    arguments: [
      (
        "@__swiftmacro_13LeakGateTests0024BaselineTestsswift_ynAHffMX56_16_6expectfMf_.swift",
        "BaselineTests.swift:57"
      ),
      ("@__swiftmacro_15CInterposeTests05ArenaB05SuitefMp_.swift", "@Suite ArenaTests:3"),
      ("@__swiftmacro_.swift", nil), ("@__swiftmacro_x", nil), ("ArenaTests.swift", nil),
    ] as [(String, String?)])
  func placesOfMacros(file: String, place: String?) {
    #expect(SwiftMacroNames.place(inFile: file, line: 3) == place)
  }

  @Test(
    "variables have no module and no type",
    arguments: [
      ("m.`raw name` : m.Cache?", "`raw name`"), ("m.tup : (a: m.Cache, b: m.Cache)", "tup"),
      ("static m.Cache.Inner.list : [m.Cache]", "static Cache.Inner.list"),
      ("m.(hidden in _7101FE1A) : [Swift.String : m.Cache]?", "hidden"),
      (
        "static (extension in m):Swift.Array<A where A == Swift.Int>.mark : m.Cache",
        "static Array.mark"
      ),
      ("m.fun : (Swift.Int) -> m.Cache?", "fun"), ("app::table", "app::table"),
      ("one-time initialization token for shared", "one-time initialization token for shared"),
    ])
  func variables(full: String, short: String) {
    #expect(DataSymbol(name: full, offset: 0, size: 8).shortName == short)
  }

  @Test("what makes a local type says the type once")
  func localTypes() {
    #expect(
      SwiftNames.short(
        "__allocating_init() -> Local #1 in A.Wrapper.loc() -> () in Local #1 in A.Wrapper.loc() -> ()"
      )
        == "__allocating_init() in Local in Wrapper.loc()")
  }

  @Test("survives any cut of a name")
  func cuts() {
    let name =
      "generic specialization <Swift.Int> of (extension in m):m.(P in _F3).go(a: (B) -> C) in x"
    for length in 0...name.utf8.count {
      _ = SwiftNames.short(String(name.utf8.prefix(length)) ?? "")
      _ = SwiftNames.short(String(name.utf8.suffix(length)) ?? "")
    }
  }
}
