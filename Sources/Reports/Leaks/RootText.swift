import LeakAnalysis
import TraceReader

/// Roots in words.
enum RootText {
  /// All roots of a kind.
  static func plural(_ category: Root.Category) -> String {
    switch category {
    case .global: "variables"
    case .threadLocal: "thread-local variables"
    case .mapping: "mappings"
    case .unknownHeap: "unknown heap"
    case .stack: "stacks"
    case .registers: "registers"
    case .kernel: "kernel"
    case .signalStack: "signal stacks"
    case .ignored: "ignored"
    case .immortal: "immortal objects"
    }
  }
}

/// Names the words of roots: a variable, a stack slot of a thread, a register.
struct RootNames {
  let source: ReportSource
  let info: SnapshotInfo

  /// `variable cache in app`, `stack of worker (T2, tid 4712) + 24`, `register rbx of …`.
  func text(_ slot: RootSlot) -> String {
    let address = HexText.of(slot.address)
    switch slot.root.kind {
    case .global:
      guard let variable = source.variables.variable(at: slot.address, time: info.time) else {
        return "variable at \(address)"
      }
      return "variable \(variable.text)"
    case .threadLocal(let thread): return "thread-local variable of \(name(thread)) at \(address)"
    case .mapping(let path): return "mapping\(path.map { " of \($0)" } ?? "") at \(address)"
    case .unknownHeap: return "heap outside of known blocks at \(address)"
    case .stack(let thread): return "stack of \(name(thread)) at \(address)\(distance(slot))"
    case .registers(let thread):
      let name = RegisterName.text(
        number: Int(slot.address / 8), of: info.threads[slot.root.thread].registers.count)
      return "register \(name) of \(self.name(thread))"
    case .kernel: return kernelText(slot)
    case .signalStack(let thread): return "signal stack of \(name(thread))"
    case .ignored: return "the program ignores it"
    case .immortal: return Self.immortal
    }
  }

  /// The same for all words of a root that belong together: the whole variable, the whole stack.
  func groupText(_ slot: RootSlot) -> String {
    switch slot.root.kind {
    case .global:
      guard let variable = source.variables.variable(at: slot.address, time: info.time) else {
        return "variables"
      }
      guard let name = variable.name else {
        return "variables of \(ReportFrame.lastComponent(variable.image))"
      }
      return "variable \(name) in \(ReportFrame.lastComponent(variable.image))"
    case .threadLocal(let thread): return "thread-local variables of \(name(thread))"
    case .mapping(let path): return "mapping\(path.map { " of \($0)" } ?? "s")"
    case .unknownHeap: return "heap outside of known blocks"
    case .stack(let thread): return "stack of \(name(thread))"
    case .registers(let thread): return "registers of \(name(thread))"
    case .kernel: return kernelText(slot)
    case .signalStack(let thread): return "signal stack of \(name(thread))"
    case .ignored: return "the program ignores it"
    case .immortal: return Self.immortal
    }
  }

  /// What brings the word back.
  private func kernelText(_ slot: RootSlot) -> String {
    let number = Int(clamping: slot.address / 8)
    guard info.kernelWords.indices.contains(number) else { return "the kernel" }
    return switch info.kernelWords[number].source {
    case .epoll(let descriptor): "the kernel, for events of epoll (descriptor \(descriptor))"
    case .timer(let number): "the kernel, for the signal of timer \(number)"
    case .unknown: "the kernel"
    }
  }

  private static let immortal = "its language never frees it"

  private func name(_ thread: UInt32) -> String {
    source.threads.summary(of: ThreadIndex(thread)).text
  }

  /// How far a stack slot is from the stack pointer.
  private func distance(_ slot: RootSlot) -> String {
    guard
      let thread = info.threads.first(where: {
        $0.sp <= slot.address && slot.root.range.contains($0.sp)
      })
    else { return "" }
    return " (sp + \(slot.address - thread.sp))"
  }
}
