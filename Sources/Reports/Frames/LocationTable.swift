/// Something that is known of places in the code, by the numbers that ``StackNames`` gives them.
struct LocationTable<Value> {
  private var values: [Value?] = []

  /// What is known of a place; nil as long as nothing was set.
  subscript(location: Int) -> Value? {
    get { location < values.count ? values[location] : nil }
    set {
      if location >= values.count {
        values += repeatElement(nil, count: location + 1 - values.count)
      }
      values[location] = newValue
    }
  }
}
