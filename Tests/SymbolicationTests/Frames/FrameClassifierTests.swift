import Testing
import TraceReader

@testable import Symbolication

@Suite("Roles of frames")
struct FrameClassifierTests {
  private static let app = "/home/u/app"
  private static let libc = "/lib/x86_64-linux-gnu/libc.so.6"

  private func role(_ symbol: String?, _ image: String?) -> SymbolicatedFrame.Role {
    FrameClassifier.role(of: symbol.map(Demangler.name(of:)), inImageAt: image)
  }

  @Test(
    "allocators and runtimes, wherever they are compiled into",
    arguments: [
      ("malloc", libc), ("malloc", app), ("_int_malloc", libc), ("xmalloc", app),
      ("zmalloc", "/usr/bin/redis-server"), ("sqlite3Malloc", app), ("palloc0", app),
      ("_PyMem_RawMalloc", "/usr/bin/python3.11"), ("anything", "/opt/lib/libmemtrace.so"),
      ("_Znwm", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"), ("_Znwm", app), ("_ZdlPv", app),
      (
        "_ZNSt6vectorIiSaIiEE17_M_realloc_insertIJiEEEvN9__gnu_cxx17__normal_iteratorIPiS1_EEDpOT_",
        app
      ),
      ("_ZN9__gnu_cxx13new_allocatorIiE8allocateEmPKv", app),
      ("_ZNSt8__detail9_Map_baseIiiE2atEv", app),
      ("_ZN6WidgetnwEm", app), ("_ZN6WidgetdaEPv", app), ("_ZN3app4Pool6mallocEm", app),
      ("_ZN3app5AllocISt6vectorIiSaIiEEE8allocateEm", app), ("_Z7xmallocm", app),
      ("_ZN2os6mallocEm8MEMFLAGS", "/usr/lib/jvm/java-17/lib/server/libjvm.so"),
      ("_Z12AllocateHeapm8MEMFLAGSN17AllocFailStrategy13AllocFailEnumE", app),
      ("HeapAlloc", "/opt/dotnet/shared/Microsoft.NETCore.App/3.1.23/libcoreclr.so"),
      ("_Z24EEHeapAllocInProcessHeapjm", app), ("_ZN16CExecutionEngine12ClrHeapAllocEPvjm", app),
      ("_ZN7CorUnix14InternalMallocEm", app),
      ("xstrdup", app), ("xmalloc.part.0", app), ("CRYPTO_zalloc", app), ("__zend_malloc", app),
      ("swift_allocObject", "/opt/swift/usr/lib/swift/linux/libswiftCore.so"),
      ("$sIeg_ytIegr_TR", app), ("swift_slowAlloc", app), ("$sSa6appendyyxnF", app),
      ("$sSa28_allocateBufferUninitialized15minimumCapacitys06_ArrayB0VyxGSi_tFZSi_Tt1g5", app),
      ("$s1t3FooCMa", app), ("$sIetH_yts5Error_pIegHrzo_TR10async_MainTf3npf_nTQ0_", app),
      ("_ZN5alloc5alloc15exchange_malloc17h0123456789abcdefE", app),
      ("_ZN5alloc7raw_vec19RawVec$LT$T$C$A$GT$8grow_one17h0123456789abcdefE", app),
      ("_ZN45_$LT$T$u20$as$u20$alloc..string..ToString$GT$9to_string17h0123456789abcdefE", app),
      ("$sSo3MapV3Cxx0B4PairSCAcDP5first5FirstQzvgTW", app),
      ("runtime.cgocall", app), ("main._Cfunc_CString", app), ("main._cgo_cmalloc", app),
      ("_cgo_4f10e2bb1270_Cfunc__Cmalloc", app), ("CMEM_$$_CGETMEM$QWORD$$POINTER", app),
      ("main__leak__L_1__P1795b.366", app), ("main__maps__iterate__R3B__P3197b__2.159", app),
      ("main__P1838b", app), ("__gnat_malloc", app),
      ("_ZL8getCacheRKN5swift27TargetTypeContextDescriptorINS_9InProcessEEE", app),
      ("_ZN5swift7Context8allocateEm", "/opt/swift/usr/bin/swift-frontend"),
      ("_ZN5swift11performSemaEv", app), ("_ZL10destroyJobPN5swift10HeapObjectE", app),
      ("__rust_alloc", app), ("_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE", app),
      (
        "_ZN60_$LT$alloc..string..String$u20$as$u20$core..clone..Clone$GT$5clone17h0123456789abcdefE",
        app
      ),
    ])
  func runtime(symbol: String, image: String) {
    #expect(role(symbol, image) == .runtime)
  }

  @Test(
    "standard libraries compiled into the program, by the source file",
    arguments: [
      ("thread<main()::<lambda()> >", "/usr/include/c++/12/bits/std_thread.h"),
      ("_M_realloc_insert<X>", "/opt/gcc/include/c++/14.1.0/bits/vector.tcc"),
      ("_ZN4main3runEv", "/usr/lib/llvm-14/include/c++/v1/vector"),
      ("repeat", "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/alloc/src/str.rs"),
      ("insert", "/rust/deps/hashbrown-0.16.1/src/map.rs"),
      ("to_vec", "/usr/src/rustc-1.63.0/library/alloc/src/slice.rs"),
      ("main__vecs__append", "/usr/lib/gcc/x86_64-linux-gnu/12/adainclude/a-convec.adb"),
      ("nimNewObj", "/usr/lib/nim/lib/system/arc.nim"),
      ("x", "/home/u/.choosenim/toolchains/nim-2.0.8/lib/pure/json.nim"),
      ("x", "/root/.rustup/toolchains/x/lib/rustlib/src/rust/library/core/src/x.rs"),
    ])
  func runtimeSource(symbol: String, source: String) {
    #expect(
      FrameClassifier.role(
        of: Demangler.name(of: symbol), inImageAt: Self.app, compiledFrom: source) == .runtime)
    #expect(
      FrameClassifier.role(
        of: Demangler.name(of: symbol), inImageAt: Self.app, compiledFrom: "/src/include/cpp/a.h")
        == .user)
  }

  @Test(
    "the program's own code",
    arguments: [
      ("parse_header", app), ("main", app), ("main.leaker", app), ("runtime.part.0", app),
      (nil, app), (nil, nil), ("helper", "/opt/x/libx.so"),
      ("_Py_NewReference", "/usr/bin/python3.11"),
      ("PyDict_New", "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0"),
      ("ggc_alloc", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus"),
      ("_ZN3app5parseERKSt6vectorIiSaIiEE", app),
      ("$s1t3FooV3baryyF", app), ("$sSa1tE5totalSiyF", app),
      ("$s10Foundation4DataV1tE3fooyyF", app), ("$sSo5PointV1tE3fooyyF", app),
      ("$s1t4load8encodingySS10FoundationE8EncodingV_tF", app),
      ("dispatch_event", app), ("CFormat_read", app), ("CF_open", app), ("udp_send", app),
      ("_ZN5swift11performSemaEv", "/opt/swift/usr/bin/swift-frontend"),
      ("main__leak__Pb", app), ("main__PUB", app), ("a__P1b__b", app), ("P12b", app),
      ("_ZN3CFG5buildEv", app), ("_ZN3app5printEN5swift6StringE", app),
      ("_ZN4demo4make17h0123456789abcdefE", app), ("x", "/usr/local/lib/libx.so"),
    ] as [(String?, String?)])
  func user(symbol: String?, image: String?) {
    #expect(role(symbol, image) == .user)
  }

  @Test(
    "libraries of the system",
    arguments: [
      ("strdup", libc), ("getline", libc), (nil, libc), ("fopen", "/usr/lib/libc.so.6"),
      ("g_malloc", "/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0"), (nil, "linux-vdso.so.1"),
      ("_dl_init", "/lib64/ld-linux-x86-64.so.2"), ("_start", app), ("ffi_call_unix64", app),
      ("ffi_closure_unix64_inner", "/opt/venv/site-packages/_cffi_backend.so"),
      ("$s10Foundation4DataV5countACSi_tcfC", app), ("$sSo5PointV9CxxStdlibE3fooyyF", app),
      ("$sSz20FoundationEssentialsE9formattedSSyF", app),
      ("$s22_FoundationCollections4RopeV6appendyyxnFAA9BigStringV6_ChunkV_Tg5", app),
      ("_os_object_alloc_realized", app), ("_dispatch_Block_copy", app),
      ("dispatch_queue_create_with_target", app), ("_CFRuntimeCreateInstance", app),
      ("CFArrayCreate", app), ("__CFBasicHashRehash", app), ("ures_open", app),
      ("_ZN6icu_7610UnicodeSet6freezeEv", app), ("_ZL10init_entryPKcS0_P10UErrorCode", app),
      ("x", "/opt/swift/usr/lib/swift/linux/libFoundation.so"),
    ] as [(String?, String?)])
  func system(symbol: String?, image: String?) {
    #expect(role(symbol, image) == .system)
  }

  @Test(
    "what has a source file is not of Swift's libraries, however it is called",
    arguments: [
      "_dispatch_event", "CFArrayCreate", "_ZN6icu_767Program4openER10UErrorCode",
      "_ZL10destroyJobPN5swift10HeapObjectE",
    ])
  func ownSource(symbol: String) {
    #expect(
      FrameClassifier.role(
        of: Demangler.name(of: symbol), inImageAt: Self.app, compiledFrom: "/src/x.c") == .user)
  }

  @Test(
    "headers of libraries are the system's, wherever they are compiled into",
    arguments: [
      ("_ZN5QListI7QStringE6appendERKS0_", "/usr/include/x86_64-linux-gnu/qt5/QtCore/qlist.h"),
      ("_mm_malloc", "/usr/lib/gcc/x86_64-linux-gnu/12/include/mm_malloc.h"),
    ])
  func systemHeader(symbol: String, source: String) {
    func frame(_ source: String) -> SymbolicatedFrame {
      SymbolicatedFrame(
        programCounter: Address(1), function: Demangler.name(of: symbol),
        location: SourceLocation(path: source, line: 6), imagePath: Self.app)
    }
    #expect(frame(source).role == .system)
    #expect(frame(source).isCompiledIn)
    #expect(frame("/src/include/qlist.h").role == .user)
    let libc = SymbolicatedFrame(
      programCounter: Address(1), function: Demangler.name(of: "strdup"), imagePath: Self.libc)
    #expect(!libc.isCompiledIn)
    let user = frame("/src/a.cc")
    #expect(ResponsibleFrame.find(in: [libc, frame(source), user]) == user)
  }

  @Test("the responsible frame is the user's first, else the system's first, else the outermost")
  func responsible() {
    func frame(_ name: String, _ image: String = Self.app) -> SymbolicatedFrame {
      SymbolicatedFrame(
        programCounter: Address(1), function: Demangler.name(of: name), imagePath: image)
    }
    let allocator = frame("malloc", Self.libc)
    let system = frame("strdup", Self.libc)
    let outer = frame("swift_retain", "/x/libswiftCore.so")
    let marker = SymbolicatedFrame(marker: "<callers not known>")
    let user = frame("parse_header")

    #expect(ResponsibleFrame.find(in: [allocator, system, user, frame("main")]) == user)
    #expect(ResponsibleFrame.find(in: [allocator, system, outer, marker]) == system)
    #expect(ResponsibleFrame.find(in: [allocator, outer, marker]) == outer)
    let initializer = frame("pool_init", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6")
    let callInit = frame("call_init", "/lib64/ld-linux-x86-64.so.2")
    let loader = frame("_dl_allocate_tls", "/lib64/ld-linux-x86-64.so.2")
    #expect(ResponsibleFrame.find(in: [allocator, initializer, callInit]) == initializer)
    #expect(ResponsibleFrame.find(in: [allocator, callInit]) == callInit)
    #expect(ResponsibleFrame.find(in: [initializer, loader, callInit]) == loader)
    #expect(ResponsibleFrame.find(in: [initializer, callInit, user]) == user)
    let unnamed = SymbolicatedFrame(
      programCounter: Address(1), function: nil, imagePath: "/lib64/ld-linux-x86-64.so.2")
    #expect(ResponsibleFrame.find(in: [allocator, initializer, unnamed]) == initializer)
    #expect(ResponsibleFrame.find(in: [allocator, unnamed, unnamed]) == unnamed)
    #expect(ResponsibleFrame.find(in: [marker]) == nil)
    #expect(ResponsibleFrame.find(in: []) == nil)
    let expansion = SymbolicatedFrame(
      programCounter: Address(1), function: Demangler.name(of: "access"),
      location: SourceLocation(
        path: "/src/@__swiftmacro_3app5Model10ObservablefMm_.swift", line: 6),
      imagePath: Self.app)
    #expect(ResponsibleFrame.find(in: [allocator, expansion, user]) == user)
    #expect(ResponsibleFrame.find(in: [allocator, expansion, system]) == expansion)
    #expect(ResponsibleFrame.describe("malloc", in: user) == "malloc in parse_header")
    #expect(ResponsibleFrame.describe("malloc", in: nil) == "malloc")
  }

  @Test(
    "who uses a library's container is blamed, not what makes room in it",
    arguments: [
      // Symbols of clang 14, of a program with Abseil 20220623, and of one with Boost 1.74.
      ("_ZN4llvm15SmallVectorBaseIjE8grow_podEPvmm", true),
      ("_ZN4llvm15allocate_bufferEmm", true),
      ("_ZN4llvm5Twine3strEv", false),
      ("_ZN4absl12lts_2022062318container_internal18hash_policy_traitsIiE5applyEv", true),
      ("_ZN4absl12lts_202206239StrAppendEv", false),
      ("_ZN5boost9container3dtl10deque_baseIiE10initializeEm", true),
      ("_ZN5boost10filesystem6detail6statusEv", false),
      ("_ZN6QArrayD1Ev", false),
    ])
  func libraryContainers(symbol: String, isContainer: Bool) {
    func frame(_ name: String) -> SymbolicatedFrame {
      SymbolicatedFrame(
        programCounter: Address(1), function: Demangler.name(of: name), imagePath: Self.app)
    }
    let (library, user) = (frame(symbol), frame("parse_header"))
    let expected = isContainer ? user : library
    #expect(ResponsibleFrame.find(in: [frame("malloc"), library, user]) == expected)
    #expect(ResponsibleFrame.find(in: [frame("malloc"), library]) == library)
    #expect(library.role == .user)
  }

  @Test("who calls a function that allocates for others is blamed")
  func allocationWrappers() {
    func frame(_ name: String, isWrapper: Bool = false) -> SymbolicatedFrame {
      SymbolicatedFrame(
        programCounter: Address(1), function: Demangler.name(of: name), imagePath: Self.app,
        isAllocationWrapper: isWrapper)
    }
    let (inner, outer) = (frame("pool_alloc", isWrapper: true), frame("zero", isWrapper: true))
    let (user, main) = (frame("parse_header"), frame("main"))
    let allocator = frame("malloc")
    #expect(ResponsibleFrame.find(in: [allocator, inner, outer, user, main]) == user)
    #expect(ResponsibleFrame.find(in: [allocator, user, inner, main]) == user)
    #expect(ResponsibleFrame.find(in: [allocator, inner, outer]) == inner)
    #expect(inner.role == .user)
    let system = SymbolicatedFrame(
      programCounter: Address(1), function: Demangler.name(of: "g_alloc"), imagePath: Self.libc,
      isAllocationWrapper: true)
    #expect(!system.isAllocationWrapper)
  }

  @Test(
    "without debug information their names tell functions that allocate for others",
    arguments: [
      ("monoeg_g_calloc", true), ("monoeg_malloc", true), ("JS_Realloc2", true),
      ("tor_malloc_", true), ("my_strdup", true), ("Curl_memdup", true), ("av_mallocz", true),
      ("memReallocArray", false), ("mem_reallocarray", true),
      ("leak_malloc", false), ("TestStrdup", false), ("leakByMalloc", false),
      ("node_alloc", false), ("realloc_table", false), ("remalloc", false), ("_", false),
    ])
  func allocationWrapperNames(name: String, isWrapper: Bool) {
    let frame = SymbolicatedFrame(
      programCounter: Address(1), function: FunctionName(plain: name), imagePath: Self.app)
    #expect(frame.isAllocationWrapper == isWrapper)
    let described = SymbolicatedFrame(
      programCounter: Address(1), function: FunctionName(plain: name),
      location: SourceLocation(path: "/src/a.c", line: 1), imagePath: Self.app)
    #expect(!described.isAllocationWrapper)
  }

  @Test("what runs a part of an async function is not blamed for what that allocates")
  func swiftJob() {
    func frame(_ name: String, _ image: String) -> SymbolicatedFrame {
      SymbolicatedFrame(
        programCounter: Address(1), function: Demangler.name(of: name), imagePath: image)
    }
    let (core, concurrency) = ("/x/libswiftCore.so", "/x/libswift_Concurrency.so")
    let allocator = frame("swift_slowAlloc", core)
    let group = frame("swift_taskGroup_initializeWithFlags", concurrency)
    let continuation = frame(
      "$sScG4next9isolationxSgScA_pSgYi_tYaFTY0_", concurrency)
    let runner = frame("_ZN5swift34runJobInEstablishedExecutorContextEPNS_3JobE", concurrency)
    let run = frame("swift_job_run", concurrency)
    let dispatch = frame("_dispatch_continuation_pop", "/opt/lib/swift/linux/libdispatch.so")
    let foundation = frame("fetch", "/opt/lib/swift/linux/libFoundation.so")
    let (user, loop) = (frame("load", Self.app), frame("runEventLoop", Self.app))
    func blamed(_ frames: [SymbolicatedFrame]) -> SymbolicatedFrame? {
      ResponsibleFrame.find(in: frames)
    }

    #expect(continuation.function?.language == .swift)
    #expect(blamed([allocator, group, continuation, runner, run, dispatch]) == continuation)
    #expect(blamed([allocator, continuation, run, loop]) == continuation)
    #expect(blamed([allocator, foundation, runner, run, loop]) == foundation)
    #expect(blamed([allocator, continuation, user, runner, run, loop]) == user)
    // Who has asked for the object is not on the stack any more.
    let node = frame("$s4demo4NodeC5valueACSi_tYacfC", Self.app)
    #expect(blamed([allocator, node, runner, run, loop]) == node)
    // The runtime's own.
    #expect(blamed([allocator, group, runner, run, dispatch]) == group)
    #expect(blamed([allocator, runner, run, loop]) == runner)
    // Not a job: what waits for nothing has its callers on the stack.
    #expect(blamed([allocator, continuation, loop]) == loop)
  }

  @Test("who makes an object of Swift is blamed, not its initializer")
  func swiftObjectCreation() {
    func frame(_ name: String, _ image: String = Self.app) -> SymbolicatedFrame {
      SymbolicatedFrame(
        programCounter: Address(1), function: Demangler.name(of: name), imagePath: image)
    }
    let core = "/x/libswiftCore.so"
    let allocator = [frame("malloc"), frame("swift_slowAlloc", core)]
    let array = frame("$ss27_allocateUninitializedArrayySayxG_BptBwlF", core)
    let node = frame("$s4demo4NodeC5valueACSi_tcfC")
    let delegating = frame("$s4demo4NodeC4textACSS_tcfC")
    let witness = frame("$s4demo4NodeCAA5MakesA2aDP5valuexSi_tcfCTW")
    let local = frame("$s4demo5localyXlyF5LocalL_CADycfC")
    let closure = frame("$s4demo4NodeC4textACSS_tcfCyycfU_")
    // In extensions, of a class and of a structure.
    let extended = frame("$s4demo4SlotCAARi_zrlEyACyxGxcfC")
    let structure = frame("$s4demo4SlotVAARi_zrlEyACyxGxcfC")
    let (user, decode) = (frame("load"), frame("decode", "/x/lib/swift/linux/libFoundation.so"))
    func blamed(_ frames: [SymbolicatedFrame]) -> SymbolicatedFrame? {
      ResponsibleFrame.find(in: allocator + frames)
    }

    #expect(blamed([node, user]) == user)
    #expect(blamed([node, delegating, user]) == user)
    #expect(blamed([node, witness, decode, user]) == user)
    #expect(blamed([local, user]) == user)
    #expect(blamed([extended, user]) == user)
    #expect(blamed([structure, user]) == structure)
    #expect(blamed([node, witness, decode]) == node)
    // What the initializer makes besides the object.
    #expect(blamed([array, delegating, user]) == delegating)
    #expect(blamed([decode, delegating, user]) == delegating)
    #expect(blamed([node, closure, user]) == closure)
    #expect(blamed([user, node, delegating]) == user)
  }

  @Test("a stripped main that hands over to a library is not blamed")
  func strippedMain() {
    func frame(_ name: String?, _ image: String = Self.app) -> SymbolicatedFrame {
      SymbolicatedFrame(
        programCounter: Address(1), function: name.map(Demangler.name(of:)), imagePath: image)
    }
    let library = "/usr/lib/x86_64-linux-gnu/libruby.so"
    let (copy, table) = (frame("rb_strdup", library), frame("rb_table_new", library))
    let (hidden, main, strdup) = (frame(nil, library), frame(nil), frame("strdup", Self.libc))
    let start = [frame("__libc_start_call_main", Self.libc), frame("_start")]
    let old = [frame(nil, Self.libc), frame("__libc_start_main", Self.libc), frame(nil)]
    func blamed(_ frames: [SymbolicatedFrame]) -> SymbolicatedFrame? {
      ResponsibleFrame.find(in: frames)
    }
    #expect(blamed([strdup, copy, hidden, table, main] + start) == table)
    #expect(blamed([strdup, copy, hidden, table, main] + old) == table)
    #expect(blamed([hidden, copy, main] + start) == hidden)
    #expect(blamed([copy, hidden, frame("call_init", "/lib64/ld-linux-x86-64.so.2")]) == hidden)
    let front = frame("_Z8cc1_mainN4llvm8ArrayRefIPKcEES2_Pv", "/usr/lib/llvm-14/bin/clang")
    let clangMain = frame("main", "/usr/lib/llvm-14/bin/clang")
    #expect(blamed([hidden, table, front, clangMain] + start) == table)
    #expect(blamed([strdup, front, clangMain] + start) == front)
    #expect(blamed([table, frame("cc1_main"), frame("main")] + start) == frame("cc1_main"))
    #expect(blamed([strdup, main] + start) == main)
    #expect(blamed([hidden, main, frame(nil)] + start) == main)
    #expect(blamed([table, main, table] + start) == main)
    #expect(blamed([table, frame("main")] + start) == frame("main"))
    #expect(blamed([table, frame("main", "/usr/lib/R/bin/exec/R")] + start) == table)
    #expect(
      blamed([strdup, frame("main", "/usr/bin/env")] + start) == frame("main", "/usr/bin/env"))
    #expect(
      blamed([table, frame("run", "/usr/bin/app"), frame("main", "/usr/bin/app")] + start)
        == frame("run", "/usr/bin/app"))
    let ownMain = SymbolicatedFrame(
      programCounter: Address(1), function: Demangler.name(of: "main"),
      location: SourceLocation(path: "/src/main.c", line: 6), imagePath: "/usr/bin/app")
    #expect(blamed([table, ownMain] + start) == ownMain)
    #expect(blamed([table, main]) == main)
    #expect(blamed([strdup, copy, table, frame("start_thread", Self.libc)]) == table)
    #expect(blamed([strdup, hidden, frame("start_thread", Self.libc)]) == hidden)
    #expect(blamed([copy, hidden, table]) == table)
    #expect(blamed([copy]) == copy)
    #expect(blamed([hidden, strdup, table]) == hidden)
    #expect(blamed([strdup] + start) == strdup)
    #expect(
      blamed([table, SymbolicatedFrame(programCounter: Address(1))] + start)?.imagePath == nil)
  }
}
