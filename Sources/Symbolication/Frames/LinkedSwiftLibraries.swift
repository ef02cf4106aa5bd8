/// Names of the C and C++ functions of Swift's libraries, which `-static-stdlib` links into programs: the
/// runtime, libdispatch, CoreFoundation and ICU.
///
/// They come without debug information, so that a function with a source file is none of them.
enum LinkedSwiftLibraries {
  /// Whether a function of C++ belongs to the Swift runtime, by what it is given.
  static func isRuntime(_ function: FunctionName) -> Bool {
    function.language == .cxx && runtimeTypes.contains { TextSearch.holds(function.full, $0) }
  }

  /// Whether a function belongs to one of the libraries.
  static func isSystem(_ function: FunctionName) -> Bool {
    switch function.language {
    case .plain: isSystemPlain(function.short)
    case .cxx: isOfICU(function)
    case .rust, .swift, .d: false
    }
  }

  private static func isSystemPlain(_ name: String) -> Bool {
    plainPrefixes.contains(where: name.hasPrefix) || isOfCoreFoundation(name)
  }

  /// `CFArrayCreate`, not `CFormat` or `CF_open`.
  private static func isOfCoreFoundation(_ name: String) -> Bool {
    guard name.hasPrefix("CF") else { return false }
    let rest = name.utf8.dropFirst(2)
    guard let first = rest.first, let second = rest.dropFirst().first else { return false }
    return UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first
      && UInt8(ascii: "a")...UInt8(ascii: "z") ~= second
  }

  /// Its namespace has its version, and nearly all that is in none reports errors its way.
  private static func isOfICU(_ function: FunctionName) -> Bool {
    function.base.hasPrefix("icu_") || TextSearch.holds(function.full, "UErrorCode")
  }

  private static let runtimeTypes: [StaticString] = [
    "swift::InProcess", "swift::AsyncContext*", "swift::AsyncTask*", "swift::Job*",
    "swift::HeapObject*", "swift::OpaqueValue*", "swift::SwiftError*", "swift::YieldOnceBuffer*",
    "swift::MetadataPackOrValue", "swift::MetadataRequest", "__swift::__runtime::",
    "swift::Demangle::__runtime::", "(ConformanceState&", "ConformanceState::",
    "(anonymous namespace)::_swift_",
  ]

  private static let plainPrefixes = [
    // libdispatch; a program may well have a `dispatch_event` of its own.
    "_dispatch_", "__dispatch_", "_os_object_", "_libdispatch_", "dispatch_async",
    "dispatch_after", "dispatch_barrier_", "dispatch_block_", "dispatch_data_", "dispatch_group_",
    "dispatch_io_", "dispatch_queue_", "dispatch_semaphore_", "dispatch_source_",
    // CoreFoundation
    "_CF", "__CF", "CFURL", "CFUUID", "__CreateCF", "__ResetUDateFormat",
    "_createUniqueStringWithUTF8Bytes", "CreateStringFromFileSystemRepresentation",
    // ICU
    "ubrk_", "ucal_", "ucnv_", "ucol_", "ucurr_", "udat_", "udata_", "udatpg_", "udtitvfmt_",
    "uenum_", "uhash_", "uloc_", "ualoc_", "unorm2_", "unum_", "unumf_", "uprv_", "uregex_",
    "ures_", "uset_", "utext_", "utrie2_", "ucptrie_", "uameasfmt_", "uatimezone_",
    "uatmufmt_",
  ]
}
