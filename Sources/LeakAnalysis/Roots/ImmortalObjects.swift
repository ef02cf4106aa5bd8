import TraceReader

/// The objects of Python that live when the process ends because they are never freed.
///
/// Until then something leads to them. What is left then of an interpreter that does not free them at its end,
/// as 3.12 does not free interned strings, is no leak of the program's.
struct ImmortalObjects {
  /// The positions of their blocks, ascending.
  let blocks: [Int]

  /// Finds the objects whose count says that nobody counts their references.
  ///
  /// - Complexity: O(*n*) for *n* blocks where there is a Python, else O(1).
  init(_ heap: HeapImage) {
    guard case .exit = heap.info.reason, !heap.memory.pythonClasses.isEmpty else {
      blocks = []
      return
    }
    blocks = (0..<heap.blocks.count).filter { block in
      heap.memory.isImmortalPythonObject(
        inBlockAt: heap.blocks.address(of: block), size: heap.blocks.size(of: block))
    }
  }
}
