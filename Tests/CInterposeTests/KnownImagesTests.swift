import CInterpose
import Glibc
import Testing

/// What is known of images: its lock, and whether it still holds.
@Suite(.serialized) struct KnownImagesTests {
  /// A thread that was in a section is not in the child, whose first look would wait for ever.
  @Test func aForkedChildFindsNobodyInASection() {
    #expect(mt_known_images_enter())
    #expect(!mt_known_images_enter(), "one thread, one section")
    mt_known_images_survive_fork()
    #expect(mt_known_images_enter())
    mt_known_images_exit()
  }

  private static let bias = 0x7f00_0000_0000
  private static let code = bias + 0x1000
  private static let tables = bias + 0x3000

  /// Asks for an image of which only the headers are in memory.
  private func isThere(
    at pc: Int = code + 8, tables: Int = tables, tablesSize: Int = 0x40,
    forgetsHeaders: Bool = false
  ) throws -> Bool {
    let page = try #require(
      mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    let headers = page.bindMemory(to: Elf64_Phdr.self, capacity: 2)
    headers[0].p_type = UInt32(PT_LOAD)
    headers[0].p_flags = UInt32(PF_R | PF_X)
    (headers[0].p_vaddr, headers[0].p_memsz) = (0x1000, 0x1000)
    headers[1].p_type = UInt32(PT_GNU_EH_FRAME)
    (headers[1].p_vaddr, headers[1].p_memsz) = (0x3000, 0x40)
    var image = mt_known_image()
    image.bias = UInt(Self.bias)
    image.program_headers = UInt(bitPattern: page)
    image.program_header_count = 2
    (image.unwind_header, image.unwind_header_size) = (UInt(tables), tablesSize)
    if forgetsHeaders { munmap(page, 4096) }
    defer { if !forgetsHeaders { munmap(page, 4096) } }
    return mt_known_image_is_there(&image, UInt(pc))
  }

  /// While a thread forks, the loader cannot be asked; tables of what is gone were read then, with a
  /// C library older than 2.35.
  @Test func headersInMemoryTellWhetherAnImageIsThere() throws {
    #expect(try isThere())
    #expect(try !isThere(at: Self.code - 1))
    #expect(try !isThere(at: Self.code + 0x1000))
    #expect(try !isThere(tables: Self.tables + 8))
    #expect(try !isThere(tablesSize: 0x48))
    #expect(try !isThere(tables: 0, tablesSize: 0), "one without tables was there")
    #expect(try !isThere(forgetsHeaders: true))
  }

  /// Each search begins behind what the last one found: in any order, all must be found.
  @Test func imagesAreFoundInAnyOrder() throws {
    let page = try #require(
      mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    defer { munmap(page, 4096) }
    let headers = page.bindMemory(to: Elf64_Phdr.self, capacity: 1)
    (headers[0].p_type, headers[0].p_memsz) = (UInt32(PT_LOAD), 0x1000)
    let loaded = (1...3).map { number in
      mt_loaded_image(
        bias: UInt(Self.bias + number << 20), program_headers: headers, program_header_count: 1,
        path: "/lib/libsame.so", tls_module: 0)
    }
    #expect(mt_known_images_enter())
    defer { mt_known_images_exit() }
    let published = try loaded.map { image in
      var image = image
      let known = try #require(mt_known_images_describe(&image))
      mt_known_images_publish(known, 1)
      return known
    }
    for sought in [0, 1, 2, 2, 1, 0, 2, 0] {
      var image = loaded[sought]
      #expect(mt_known_images_find(&image) == published[sought])
    }
    for known in published { mt_known_images_drop(known) }
    var gone = loaded[1]
    #expect(mt_known_images_find(&gone) == nil)
  }
}
