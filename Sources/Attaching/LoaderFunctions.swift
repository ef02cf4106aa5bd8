import CAttach

#if canImport(Glibc)
  import Glibc
#endif

/// The functions of a process's C library by which a library is opened.
struct LoaderFunctions {
  let open: UInt64
  /// The mode that `open` is given.
  let openMode: UInt64
  let find: UInt64
  /// What says why `open` failed; nil where nothing does.
  let message: UInt64?
  /// What returns the address of the thread's `errno`.
  let errorNumber: UInt64
  /// An instruction that makes a system call.
  let systemCall: UInt64

  /// `__RTLD_DLOPEN` of glibc's `dlfcn.h` of its own: the call comes from the program.
  private static let fromProgram: UInt64 = 0x8000_0000

  /// - Throws: ``AttachError`` when there are none.
  init(of process: RemoteProcess, images: RemoteImages) throws(AttachError) {
    guard let errorNumber = images.function("__errno_location"),
      let systemCall = try Self.instruction(of: process, images: images)
    else { throw .noLoader }
    self.errorNumber = errorNumber
    self.systemCall = systemCall
    if let open = images.function("dlopen"), let find = images.function("dlsym") {
      (self.open, self.find, openMode) = (open, find, UInt64(RTLD_NOW))
      message = images.function("dlerror")
    } else if let open = images.function("__libc_dlopen_mode"),
      // Before glibc 2.34 they are in libdl, which not every process has.
      let find = images.function("__libc_dlsym")
    {
      (self.open, self.find) = (open, find)
      openMode = UInt64(RTLD_NOW) | Self.fromProgram
      message = nil
    } else {
      throw .noLoader
    }
  }

  /// Where the function `syscall` makes a system call.
  private static func instruction(
    of process: RemoteProcess, images: RemoteImages
  ) throws(AttachError) -> UInt64? {
    guard let function = images.function("syscall") else { return nil }
    let code = try process.read(function, count: 64)
    var size = 0
    let wanted = Array(UnsafeBufferPointer(start: cattach_instruction(&size), count: size))
    return code.indices.first { code[$0...].starts(with: wanted) }.map { function + UInt64($0) }
  }
}
