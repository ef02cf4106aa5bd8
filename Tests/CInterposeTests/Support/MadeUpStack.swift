#if arch(x86_64)
  import CInterpose
  import TraceTestSupport

  /// A stack in memory as compiled functions would leave it, with rules for their frames.
  ///
  /// The functions have frames of any size. Some keep rbp for something of their own, some address
  /// their frames by it: those are of another size in every call. Of these, some align their stack,
  /// and keep where their caller's frame ends. Words that are left behind stay.
  struct MadeUpStack {
    /// A function, of which calls return to several addresses.
    struct Function {
      var returnAddresses: [UInt]
      /// Words of its frame, the return address among them, at least.
      var words: Int
      var savesFramePointer: Bool
      var isFramePointerBased: Bool
      /// Then it keeps the end of its caller's frame in a word of its own.
      var alignsStack: Bool
    }

    struct Frame {
      var function: Int
      /// Words of its frame beyond those of its function.
      var more: Int
      var pc: UInt
      /// After its callee has returned, as unwinding has it.
      var sp: UInt
      var fp: UInt
    }

    static let words = 1 << 16

    let memory = UnsafeMutablePointer<UInt>.allocate(capacity: Self.words)
    let functions: [Function]
    /// Root first.
    private(set) var frames: [Frame] = []
    private var random: SeededGenerator

    init(seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      memory.initialize(repeating: 0, count: Self.words)
      functions = (0..<24).map { index in
        let isBased = Int.random(in: 0..<2, using: &random) == 0
        return Function(
          returnAddresses: (0..<4).map { 0x5000_0000_0000 + UInt(index) << 12 + UInt($0) << 4 },
          words: .random(in: 2..<12, using: &random),
          savesFramePointer: isBased || Bool.random(using: &random), isFramePointerBased: isBased,
          alignsStack: isBased && Int.random(in: 0..<8, using: &random) == 0)
      }
      self.random = random
      Self.teachRules(of: functions)
      let top = UInt(bitPattern: memory + Self.words - 64)
      frames = [Frame(function: -1, more: 0, pc: Self.rootPC, sp: top, fp: 0xdead)]
    }

    /// Where the root's caller would be: nowhere, says its rule.
    static let rootPC: UInt = 0x5000_ffff_0000

    var range: mt_address_range {
      mt_address_range(
        low: UInt(bitPattern: memory), high: UInt(bitPattern: memory + Self.words))
    }

    /// Where a walk begins; puts there what the call of a hook pushes.
    func leaf() -> mt_frame {
      let frame = frames[frames.count - 1]
      store(frame.pc, at: frame.sp - 8)
      store(frame.fp, at: frame.sp - 16)
      return mt_frame(pc: frame.pc, sp: frame.sp, fp: frame.fp)
    }

    /// Leaf first.
    var returnAddresses: [UInt] { frames.reversed().map(\.pc) }

    /// Returns from some functions, goes on in the one below, and calls others; as likely as not
    /// those that were there before, from the same places.
    mutating func run(maximumDepth: Int) {
      let left = Int.random(in: 0..<min(frames.count, 12), using: &random)
      let kept = frames.count - left
      let before = Array(frames[kept...])
      frames.removeLast(left)
      if kept > 1 && Bool.random(using: &random) { goOn() }
      for frame in before where Int.random(in: 0..<8, using: &random) > 0 {
        let isAsBefore = Int.random(in: 0..<8, using: &random) > 0
        call(frame.function, returnAddress: frame.pc, more: isAsBefore ? frame.more : nil)
      }
      for _ in 0..<Int.random(in: 0..<4, using: &random) where frames.count < maximumDepth {
        let function = Int.random(in: functions.indices, using: &random)
        call(function, returnAddress: functions[function].returnAddresses[0])
      }
    }

    /// The innermost function calls from another place, and may have changed its frame pointer.
    private mutating func goOn() {
      let function = functions[frames[frames.count - 1].function]
      frames[frames.count - 1].pc = function.returnAddresses.randomElement(using: &random) ?? 0
      if function.savesFramePointer && !function.isFramePointerBased {
        frames[frames.count - 1].fp = .random(in: 0...UInt.max, using: &random)
      }
    }

    /// Calls a function, in a frame of so many words more than it has at least; nil: of any number.
    private mutating func call(_ index: Int, returnAddress: UInt, more: Int? = nil) {
      let caller = frames[frames.count - 1], function = functions[index]
      let more = function.isFramePointerBased ? more ?? .random(in: 0..<3, using: &random) : 0
      store(caller.pc, at: caller.sp - 8)
      if function.alignsStack {
        callAligned(index, returnAddress: returnAddress, more: more)
        return
      }
      var fp = caller.fp
      if function.savesFramePointer {
        store(fp, at: caller.sp - 16)
        fp = function.isFramePointerBased ? caller.sp - 16 : .random(in: 0...99, using: &random)
      }
      frames.append(
        Frame(
          function: index, more: more, pc: returnAddress,
          sp: caller.sp - UInt((function.words + more) * 8), fp: fp))
    }

    /// As gcc begins a function that aligns its stack: with a copy of the return address.
    private mutating func callAligned(_ index: Int, returnAddress: UInt, more: Int) {
      let caller = frames[frames.count - 1]
      let aligned = (caller.sp - 8) & ~(Self.alignment - 1)
      store(caller.pc, at: aligned - 8)
      store(caller.fp, at: aligned - 16)
      store(caller.sp, at: aligned - 24)
      frames.append(
        Frame(
          function: index, more: more, pc: returnAddress,
          sp: aligned - 24 - UInt((functions[index].words + more) * 8), fp: aligned - 16))
    }

    private static let alignment: UInt = 64

    private func store(_ value: UInt, at address: UInt) {
      memory[(Int(address) - Int(bitPattern: memory)) / 8] = value
    }

    /// Puts rules into the recorder's table, as if they had been read from unwind tables.
    private static func teachRules(of functions: [Function]) {
      var outermost = mt_rule()
      outermost.kind = UInt32(MT_RULE_OUTERMOST.rawValue)
      mt_rule_keep(rootPC, outermost)
      for function in functions {
        var rule = mt_rule()
        rule.kind = UInt32(MT_RULE_FRAME.rawValue)
        rule.is_from_fp = function.isFramePointerBased
        rule.restores_fp = function.savesFramePointer
        rule.cfa_offset = function.isFramePointerBased ? 16 : Int32(function.words * 8)
        rule.fp_offset = -16
        if function.alignsStack {
          rule.reads_cfa = true
          rule.cfa_offset = -8
          rule.fp_offset = 0
        }
        for pc in function.returnAddresses { mt_rule_keep(pc, rule) }
      }
    }
  }
#endif
