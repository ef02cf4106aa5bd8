import CInterpose
import Glibc
import Testing

/// What filters of seccomp may do to the recorder's calls.
@Suite struct SandboxFilterTests {
  private static let allow = answer(0x7fff_0000)
  private static let kill = answer(0x8000_0000)
  private static let number = load(0)

  private static func answer(_ value: UInt32) -> sock_filter {
    sock_filter(code: 0x06, jt: 0, jf: 0, k: value)
  }

  /// The error that a call fails with.
  private static func refuse(_ error: UInt32) -> sock_filter { answer(0x0005_0000 | error) }

  private static func load(_ offset: UInt32) -> sock_filter {
    sock_filter(code: 0x20, jt: 0, jf: 0, k: offset)
  }

  /// Goes on so far behind the next instruction, if the word is this one, else to the next.
  private static func ifIs(_ value: Int, skip: UInt8) -> sock_filter {
    sock_filter(code: 0x15, jt: skip, jf: 0, k: UInt32(value))
  }

  /// Likewise, if it has one of these bits.
  private static func ifHas(_ bits: UInt32, skip: UInt8) -> sock_filter {
    sock_filter(code: 0x45, jt: skip, jf: 0, k: bits)
  }

  /// Of one call something else than of all others.
  private static func only(
    _ call: Int, _ answer: sock_filter, others: sock_filter = allow
  ) -> [sock_filter] {
    [number, ifIs(call, skip: 1), others, answer]
  }

  private func isSpared(_ program: [sock_filter]) -> Bool {
    mt_sandbox_filter_spares(program, UInt32(program.count))
  }

  @Test func whatForbidsOtherCallsSparesTheRecorder() {
    #expect(isSpared([Self.allow]))
    #expect(isSpared([Self.answer(0x7ffc_0000)]))  // logs
    #expect(isSpared(Self.only(Int(SYS_ptrace), Self.kill)))
    #expect(isSpared(Self.only(Int(SYS_kexec_load), Self.refuse(1))))
  }

  @Test(arguments: [
    SYS_mmap, SYS_munmap, SYS_fallocate, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_restart_syscall,
    SYS_newfstatat, SYS_clone, SYS_ioctl, SYS_write,
  ])
  func whatKillsForOneOfTheRecordersCallsDoesNot(call: Int32) {
    #expect(!isSpared(Self.only(Int(call), Self.kill)))
    #expect(!isSpared(Self.only(Int(call), Self.answer(0x0003_0000))))  // SIGSYS
    #expect(!isSpared(Self.only(Int(call), Self.answer(0x7fc0_0000))))  // asks somebody
    #expect(!isSpared(Self.only(Int(call), Self.allow, others: Self.kill)))
  }

  /// No copy can be made where processes are limited, either; an error of 0 looks like success.
  @Test func someCallsMayBeRefusedWithAnError() {
    #expect(isSpared(Self.only(Int(SYS_clone), Self.refuse(1))))
    #expect(!isSpared(Self.only(Int(SYS_clone), Self.refuse(0))))
    #expect(!isSpared(Self.only(Int(SYS_munmap), Self.refuse(1))))
  }

  /// Arguments may be anything, but for what the recorder protects its memory with.
  @Test func bothWaysOfAComparisonCountWhereArgumentsMayBeAnything() {
    func program(_ call: Int32, field: UInt32, bits: UInt32) -> [sock_filter] {
      [
        Self.number, Self.ifIs(Int(call), skip: 1), Self.allow, Self.load(field),
        Self.ifHas(bits, skip: 1), Self.allow, Self.kill,
      ]
    }
    #expect(!isSpared(program(SYS_openat, field: 32, bits: 0x40)))
    #expect(isSpared(program(SYS_mmap, field: 32, bits: 4)))  // code
    #expect(!isSpared(program(SYS_mmap, field: 32, bits: 2)))  // memory that is written to
    #expect(!isSpared(program(SYS_mmap, field: 40, bits: 0x20)))
    #expect(isSpared(program(SYS_ptrace, field: 16, bits: 1)))
  }

  /// Filters reject calls of other machines first.
  @Test func theMachineIsKnown() {
    #if arch(x86_64)
      let machine: UInt32 = 0xc000_003e
    #else
      let machine: UInt32 = 0xc000_00b7
    #endif
    let program = [Self.load(4), Self.ifIs(Int(machine), skip: 1), Self.kill, Self.allow]
    #expect(isSpared(program))
  }

  @Test func wordsThatAreCalculatedAreFollowed() {
    let and = sock_filter(code: 0x54, jt: 0, jf: 0, k: 0x4000_0000)
    #expect(isSpared([Self.number, and, Self.ifIs(0, skip: 1), Self.kill, Self.allow]))
    let keep = sock_filter(code: 0x07, jt: 0, jf: 0, k: 0)
    let take = sock_filter(code: 0x87, jt: 0, jf: 0, k: 0)
    let kept = [Self.number, keep, Self.load(16), take, Self.ifIs(Int(SYS_bpf), skip: 1)]
    #expect(isSpared(kept + [Self.allow, Self.kill]))
  }

  /// The kernel takes none of these; or nothing is known of what they answer.
  @Test func ofWhatMakesNoSenseNothingIsSaid() {
    #expect(!isSpared([]))
    #expect(!isSpared([Self.number]))
    #expect(!isSpared([Self.number, Self.ifIs(9, skip: 200), Self.allow]))
    #expect(!isSpared([sock_filter(code: 0x05, jt: 0, jf: 0, k: .max), Self.allow]))
    #expect(
      !isSpared([
        sock_filter(code: 0x80, jt: 0, jf: 0, k: 0), sock_filter(code: 0x16, jt: 0, jf: 0, k: 0),
      ]))
    #expect(!isSpared([Self.number, sock_filter(code: 0x3c, jt: 0, jf: 0, k: 0), Self.allow]))
    for code in UInt16(0)...0xff {
      _ = isSpared([sock_filter(code: code, jt: 1, jf: 255, k: 3), Self.allow, Self.kill])
    }
  }

  /// Each comparison of an argument doubles them.
  @Test func tooManyPathsEndTheSearch() {
    var program = [Self.load(16)]
    for bit in 0..<64 { program += [Self.ifHas(1 << UInt32(bit % 32), skip: 1), Self.load(16)] }
    #expect(!isSpared(program + [Self.allow]))
  }
}
