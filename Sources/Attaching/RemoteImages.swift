import CAttach

#if canImport(Glibc)
  import Glibc
#endif

/// Stacks and functions of another process.
final class RemoteImages {
  /// A thread whose stack is deeper is not at a safe point.
  private static let deepest = 4096

  private let images: OpaquePointer

  /// - Throws: ``AttachError`` when the process cannot be looked at.
  init(pid: pid_t) throws(AttachError) {
    guard let images = cattach_images_open(pid) else { throw .noLoader }
    self.images = images
  }

  deinit { cattach_images_close(images) }

  /// Looks again which there are.
  func refresh() { cattach_images_refresh(images) }

  /// The stack of a stopped thread.
  func stack(of tid: pid_t) -> ThreadStack {
    var isComplete = false
    let frames = [cattach_frame](unsafeUninitializedCapacity: Self.deepest) { buffer, count in
      count = cattach_stack(images, tid, buffer.baseAddress, buffer.count, &isComplete)
    }
    return ThreadStack(
      frames: frames.map {
        ThreadStack.Frame(
          image: String(cString: $0.image), function: String(cString: $0.function),
          isInterrupted: $0.is_interrupted)
      }, isComplete: isComplete)
  }

  /// The address of a function that one of the C library's images exports; nil: there is none.
  func function(_ name: String) -> UInt64? {
    for image in ["libc.so", "libc-2", "libdl", "libpthread"] {
      let address = cattach_function(images, image, name)
      if address != 0 { return address }
    }
    return nil
  }
}
