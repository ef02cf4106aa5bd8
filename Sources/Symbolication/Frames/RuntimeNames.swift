/// Names of functions that allocate on behalf of their caller.
///
/// Templates and generics of the standard libraries are compiled into the program, so that the
/// image does not give them away: their names do.
enum RuntimeNames {
  /// Whether a function belongs to an allocator or to a language's runtime.
  ///
  /// - Parameters:
  ///   - function: Its name.
  ///   - inSwiftCompiler: Whether the namespace `swift` is the program's own.
  /// - Returns: Also for functions of allocators that a class or namespace has of its own.
  static func isRuntime(_ function: FunctionName, inSwiftCompiler: Bool = false) -> Bool {
    if isAllocatorOfC(function.raw) { return true }
    switch function.language {
    case .plain: return isRuntimePlain(function.short)
    case .cxx:
      if isAllocatorOfCxx(function.base) { return true }
      return isRuntimeCxx(function.base)
        && !(inSwiftCompiler && function.base.hasPrefix("swift::"))
    case .rust: return isRuntimeRust(function.base)
    case .swift: return isRuntimeSwift(function)
    case .d: return DNames.isOfStandardLibrary(function.base)
    }
  }

  /// Whether a function is the system's although it is linked into the program.
  static func isSystem(_ function: FunctionName) -> Bool {
    if startupFunctions.contains(function.raw) { return true }
    if foreignCalls.contains(function.raw) { return true }
    return function.language == .swift
      && SwiftNames.isOfSystemLibrary(raw: function.raw, full: function.full)
  }

  /// Whether a function does nothing but allocate; unknown functions may.
  static func isAllocator(_ function: FunctionName?) -> Bool {
    guard let function else { return false }
    return isAllocatorOfC(function.raw) || function.base.hasPrefix("operator new")
  }

  /// Whether a function of a library allocates what others ask for: `g_malloc`, `xmlStrdup`.
  static func isLibraryAllocator(_ function: FunctionName) -> Bool {
    let name = function.base.lowercased()
    return AllocatorCall.isAllocator(name) || name.hasSuffix("dup")
  }

  /// Whether a function is a class's own `operator new`.
  static func isOperatorNew(of function: FunctionName) -> Bool {
    function.language == .cxx && lastComponent(of: function.base).hasPrefix("operator new")
  }

  private static func isAllocatorOfC(_ name: String) -> Bool {
    if allocators.contains(name) { return true }
    // What the compiler has split off or specialized: `xmalloc.part.0`.
    guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")) else { return false }
    return allocators.contains(String(name[..<dot]))
  }

  /// `Widget::operator new`, `os::malloc`, `Pool<Node>::allocate`: who calls it is meant.
  private static func isAllocatorOfCxx(_ base: String) -> Bool {
    let name = lastComponent(of: base)
    if allocators.contains(String(name)) { return true }
    guard name.startIndex > base.startIndex else { return functionsOfJVM.contains(base) }
    return name.hasPrefix("operator new") || name.hasPrefix("operator delete")
      || allocatorMembers.contains(String(name))
  }

  /// The name without its scopes and template arguments: `allocate` of `a::Pool<b::Node>::allocate<int>`.
  private static func lastComponent(of name: String) -> Substring {
    var (start, end, depth) = (name.startIndex, name.endIndex, 0)
    var index = start
    while index < name.endIndex {
      let next = name.utf8.index(after: index)
      switch name.utf8[index] {
      case UInt8(ascii: "<"), UInt8(ascii: "("), UInt8(ascii: "{"):
        if depth == 0 { end = index }
        depth += 1
      case UInt8(ascii: ">"), UInt8(ascii: ")"), UInt8(ascii: "}"): depth -= 1
      case UInt8(ascii: ":") where depth == 0: (start, end) = (next, name.endIndex)
      default: break
      }
      index = next
    }
    return start <= end ? name[start..<end] : name[start...]
  }

  /// What allocators of the C++ library's kind are made of, memory resources among them.
  private static let allocatorMembers: Set<String> = [
    "allocate", "deallocate", "do_allocate", "do_deallocate",
  ]

  private static let functionsOfJVM: Set<String> = ["AllocateHeap", "ReallocateHeap", "FreeHeap"]

  /// Code of the C start-up files, which are part of every executable.
  private static let startupFunctions: Set<String> = [
    "_start", "_init", "_fini", "__libc_csu_init", "__libc_csu_fini", "frame_dummy",
    "__do_global_dtors_aux", "__do_global_ctors_aux", "register_tm_clones",
    "deregister_tm_clones",
  ]

  /// What libffi calls functions with, and lets be called: extensions of Python, Ruby and others have a copy of it.
  private static let foreignCalls: Set<String> = [
    "ffi_call", "ffi_call_int", "ffi_call_unix64", "ffi_call_SYSV", "ffi_call_go",
    "ffi_closure_unix64", "ffi_closure_unix64_sse", "ffi_closure_unix64_inner",
    "ffi_closure_SYSV", "ffi_closure_SYSV_V", "ffi_closure_SYSV_inner",
  ]

  private static let allocators: Set<String> = [
    "malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "posix_memalign",
    "aligned_alloc", "memalign", "valloc", "pvalloc", "malloc_usable_size", "free_sized",
    "free_aligned_sized",
    "__libc_malloc", "__libc_calloc", "__libc_realloc", "__libc_reallocarray", "__libc_free",
    "__libc_memalign", "__libc_valloc", "__libc_pvalloc", "__posix_memalign",
    "_int_malloc", "_int_free", "_int_realloc", "_int_memalign", "sysmalloc", "malloc_consolidate",
    // The thin wrappers that nearly every program of the GNU tradition has: a report that named
    // them would name one function for everything.
    "xmalloc", "xcalloc", "xrealloc", "xreallocarray", "xzalloc", "xnmalloc", "xnrealloc",
    "x2realloc", "x2nrealloc", "xcharalloc", "ximalloc", "xirealloc", "xpalloc", "xfree",
    "xstrdup", "xstrndup", "xmemdup", "ximemdup", "xmemdup0", "ximemdup0",
    // The same in redis, SQLite, PostgreSQL, Perl, nginx, OpenSSL (in node, too) and PHP.
    "zmalloc", "zcalloc", "zcalloc_num", "zrealloc", "zfree", "zmalloc_usable", "zcalloc_usable",
    "zrealloc_usable", "zfree_usable", "ztrymalloc", "ztrycalloc", "ztryrealloc",
    "ztrymalloc_usable", "ztrycalloc_usable", "ztryrealloc_usable", "zmalloc_usable_internal",
    "ztrymalloc_usable_internal", "ztrycalloc_usable_internal", "ztryrealloc_usable_internal",
    "sqlite3MemMalloc", "sqlite3MemRealloc", "sqlite3MemFree", "sqlite3Malloc",
    "sqlite3MallocZero", "sqlite3Realloc", "sqlite3_malloc", "sqlite3_malloc64",
    "sqlite3_realloc", "sqlite3_realloc64", "sqlite3_free", "mallocWithAlarm",
    "palloc", "palloc0", "repalloc", "pfree", "palloc_extended", "MemoryContextAlloc",
    "MemoryContextAllocZero", "MemoryContextAllocExtended", "AllocSetAlloc", "AllocSetRealloc",
    "AllocSetFree", "AllocSetContextCreateInternal", "pg_malloc", "pg_malloc0", "pg_realloc",
    "pg_malloc_internal",
    "Perl_safesysmalloc", "Perl_safesyscalloc", "Perl_safesysrealloc", "Perl_safesysfree",
    "ngx_alloc", "ngx_calloc", "ngx_memalign",
    // Of the runtimes of Erlang and of Haskell.
    "erts_sys_alloc", "erts_sys_realloc", "erts_sys_free", "erts_sys_aligned_alloc",
    "erts_sys_aligned_realloc", "erts_sys_aligned_free", "erts_alcu_sys_alloc",
    "erts_alcu_sys_realloc", "erts_alcu_sys_aligned_alloc", "erts_alcu_sys_aligned_realloc",
    "stgMallocBytes", "stgReallocBytes", "stgCallocBytes", "stgMallocAlignedBytes", "stgFree",
    // Of .NET, whose layer for Linux has the functions of Windows.
    "HeapAlloc", "HeapReAlloc", "HeapFree", "PAL_malloc", "InternalMalloc",
    "EEHeapAlloc", "EEHeapFree", "EEHeapAllocInProcessHeap", "EEHeapFreeInProcessHeap",
    "ClrHeapAlloc", "ClrHeapFree",
    "CRYPTO_malloc", "CRYPTO_zalloc", "CRYPTO_realloc", "CRYPTO_clear_realloc", "CRYPTO_free",
    "CRYPTO_clear_free", "CRYPTO_strdup", "CRYPTO_strndup", "CRYPTO_memdup",
    "CRYPTO_secure_malloc", "CRYPTO_secure_zalloc", "CRYPTO_secure_free",
    "__zend_malloc", "__zend_calloc", "__zend_realloc", "__zend_strdup", "zend_strndup",
    "_emalloc", "_ecalloc", "_erealloc", "_erealloc2", "_efree", "_estrdup", "_estrndup",
    "_safe_malloc", "_safe_realloc", "_safe_emalloc", "_safe_erealloc",
    // CPython's allocator functions; the rest of CPython is the program.
    "_PyMem_RawMalloc", "_PyMem_RawCalloc", "_PyMem_RawRealloc", "_PyMem_RawFree",
    "PyMem_RawMalloc", "PyMem_RawCalloc", "PyMem_RawRealloc", "PyMem_RawFree",
    "PyMem_Malloc", "PyMem_Calloc", "PyMem_Realloc", "PyMem_Free",
    "_PyObject_Malloc", "_PyObject_Calloc", "_PyObject_Realloc", "_PyObject_Free",
    "PyObject_Malloc", "PyObject_Calloc", "PyObject_Realloc", "PyObject_Free",
  ]

  private static func isRuntimePlain(_ name: String) -> Bool {
    if isRuntimeCxx(name) { return true }  // debug information without linkage names
    return plainPrefixes.contains { name.hasPrefix($0) } || isCallOfC(name)
      || isPoolCallOfAda(name) || PascalNames.isOfRuntimeLibrary(name)
  }

  /// The functions that GNAT writes for each `new` and each deallocation of controlled objects, to ask their pool:
  /// `main__leak__P1795b.366`, `lists__append__P26b__2`.
  private static func isPoolCallOfAda(_ name: String) -> Bool {
    // Few names have it, and instances of templates have names of many kilobytes.
    guard TextSearch.holds(name, "__P") else { return false }
    var rest = name[...].prefix { $0 != "." }
    // The number of an overloaded function.
    if dropDigits(&rest) {
      guard rest.hasSuffix("__") else { return false }
      rest.removeLast(2)
    }
    guard rest.popLast() == "b", dropDigits(&rest) else { return false }
    return rest.hasSuffix("__P")
  }

  /// Takes the digits at the end of a text away; false where there are none.
  private static func dropDigits(_ text: inout Substring) -> Bool {
    let count = text.utf8.count
    while let last = text.utf8.last, UInt8(ascii: "0")...UInt8(ascii: "9") ~= last {
      text.removeLast()
    }
    return text.utf8.count < count
  }

  /// The functions that cgo writes for each C function that Go calls: `main._Cfunc_CString`.
  private static func isCallOfC(_ name: String) -> Bool {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
    let function = name[name.index(after: dot)...]
    return function.hasPrefix("_Cfunc_") || function.hasPrefix("_cgo_")
  }

  private static let plainPrefixes = [
    "swift_", "__swift_", "_swift_", "swift::",
    "__rust_", "__rdl_", "__rg_", "__rustc::__r", "__cxa_", "__gxx_",
    "runtime.", "runtime/cgo.", "_cgo_", "_cgoexp_", "crosscall2",  // Go
    "_gfortran_", "__gnat_", "system__", "_d_",  // Fortran, Ada and D, linked statically
    "_Unwind_", "mt_interpose_", "block_copy", "_Block_copy", "_Block_object_",
  ]

  private static func isRuntimeCxx(_ name: String) -> Bool {
    cxxPrefixes.contains { name.hasPrefix($0) }
  }

  private static let cxxPrefixes = [
    "operator new", "operator delete", "std::", "__gnu_cxx::", "__cxxabiv1::", "swift::",
    "void std::", "__gnu_debug::",
  ]

  private static func isRuntimeRust(_ name: String) -> Bool {
    // `<alloc::vec::Vec<T> as core::clone::Clone>::clone`: the type decides, not the trait. Only who
    // has made the trait can implement it for any type: `<T as alloc::string::ToString>::to_string`.
    let path = name.drop { $0 == "<" || $0 == "&" }
    let trait = rustTypeParameters.first { path.hasPrefix($0) }.map { path.dropFirst($0.count) }
    return rustPrefixes.contains { (trait ?? path).hasPrefix($0) }
  }

  /// As the standard library names them.
  private static let rustTypeParameters = ["T as ", "F as ", "I as ", "U as "]

  private static let rustPrefixes = [
    "alloc::", "core::", "std::", "hashbrown::", "__rustc::", "__rust_", "__rdl_", "__rg_",
  ]

  private static func isRuntimeSwift(_ function: FunctionName) -> Bool {
    let full = function.full.hasPrefix("merged ") ? function.full.dropFirst(7) : function.full[...]
    if swiftHelpers.contains(where: full.hasPrefix) { return true }
    if function.base.hasPrefix("reabstraction thunk") { return true }
    return SwiftNames.isOfStandardLibrary(raw: function.raw, full: function.full)
  }

  private static let swiftHelpers = [
    "type metadata accessor for ", "lazy protocol witness table accessor for ",
    "lazy protocol witness table cache variable ", "generic type metadata ",
    "type metadata instantiation function ", "type metadata completion function ",
    "instantiation function for generic protocol witness table ",
    "protocol witness table accessor for ", "associated type witness table accessor ",
    "associated type metadata accessor ", "default associated conformance accessor ",
    "outlined ", "demangling cache variable ", "reabstraction thunk ",
    "partial apply forwarder for reabstraction thunk ", "protocol witness for Swift.",
    // How types of C++ conform to what Swift knows of them, which the compiler adds to the program.
    "protocol witness for Cxx.",
  ]
}
