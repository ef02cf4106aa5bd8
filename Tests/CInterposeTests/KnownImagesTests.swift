import CInterpose
import Testing

/// The lock of what is known of images.
@Suite struct KnownImagesTests {
  /// A thread that was in a section is not in the child, whose first look would wait for ever.
  @Test func aForkedChildFindsNobodyInASection() {
    #expect(mt_known_images_enter())
    #expect(!mt_known_images_enter(), "one thread, one section")
    mt_known_images_survive_fork()
    #expect(mt_known_images_enter())
    mt_known_images_exit()
  }
}
