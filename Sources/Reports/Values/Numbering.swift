/// Values by the order in which they were first seen.
struct Numbering<Value: Hashable> {
  /// The values; each is at its number.
  private(set) var values: [Value] = []
  private var numbers: [Value: Int] = [:]

  /// The number of a value, a new one when it is not known yet.
  mutating func number(of value: Value) -> Int {
    if let known = numbers[value] { return known }
    let number = values.count
    values.append(value)
    numbers[value] = number
    return number
  }
}
