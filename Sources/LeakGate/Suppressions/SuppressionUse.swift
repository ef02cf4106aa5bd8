import Reports

extension GateResult.SuppressionUse {
  /// What it is and where it stands: `leak:parse (lsan.supp:3)`.
  var title: String { Suppression.title(name, at: place) }

  /// What it hid: `leak:parse (lsan.supp:3): 2 findings, 80 B`.
  func sentence(_ style: ByteStyle) -> String {
    var text = "\(title): \(CountText.plain(findings, "finding"))"
    if bytes > 0 { text += ", \(style.format(bytes))" }
    return text
  }
}

extension GateResult {
  /// The suppressions that hid something.
  var usedSuppressions: [SuppressionUse] { suppressions.filter { $0.findings > 0 } }

  /// The suppressions that nothing needed, the first few by name; nil when all hid something, or when
  /// what they are for may have been missed.
  var unusedSuppressionText: String? {
    let unused = suppressions.filter { $0.findings == 0 }
    guard isWhole, !unused.isEmpty else { return nil }
    let limit = 5
    let shown = unused.prefix(limit).map(\.title).joined(separator: ", ")
    return unused.count > limit ? "\(shown) and \(unused.count - limit) more" : shown
  }
}
