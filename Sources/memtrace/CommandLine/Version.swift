/// The version of the tool; the trace format has a version of its own.
enum Version {
  static let current = "0.1.0"
}
