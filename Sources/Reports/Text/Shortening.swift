/// Texts that must fit a width lose their middle, because both ends of a path, a symbol or a
/// template name say more than what is between.
extension String {
  /// This text cut to at most `width` terminal columns, with `…` in the place of its middle.
  ///
  /// - Parameter width: Columns available; 1 leaves only the ellipsis, 0 or less nothing.
  /// - Returns: The text itself when it fits.
  package func shortenedInTheMiddle(to width: Int) -> String {
    if displayWidth <= width { return self }
    if width <= 0 { return "" }
    let kept = width - 1
    let head = prefixFitting((kept + 1) / 2, from: self)
    let tail = suffixFitting(kept - head.displayWidth, from: self)
    return head + "…" + tail
  }

  private func prefixFitting(_ width: Int, from text: String) -> String {
    var result = ""
    var used = 0
    for character in text {
      let columns = String(character).displayWidth
      if used + columns > width { break }
      used += columns
      result.append(character)
    }
    return result
  }

  private func suffixFitting(_ width: Int, from text: String) -> String {
    var reversed: [Character] = []
    var used = 0
    for character in text.reversed() {
      let columns = String(character).displayWidth
      if used + columns > width { break }
      used += columns
      reversed.append(character)
    }
    return String(reversed.reversed())
  }
}
