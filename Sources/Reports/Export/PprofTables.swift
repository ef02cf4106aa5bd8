import TraceReader

/// What samples of a profile refer to by number: texts, functions, locations and images.
struct PprofTables {
  /// The tables, as fields of the profile.
  var message: ProtobufMessage {
    var result = ProtobufMessage()
    for index in imageParts.indices { result.add(3, image(index)) }
    for location in locationMessages { result.add(4, location) }
    for function in functionMessages { result.add(5, function) }
    for text in texts.values { result.add(6, text) }
    return result
  }

  private let names: StackNames
  private var texts = Numbering<String>()
  private var functions = Numbering<Function>()
  private var images = Numbering<String>()
  /// Of each image the number of its path, and one past the last address in it that is referred to.
  private var imageParts: [(path: UInt64, end: UInt64)] = []
  private var functionMessages: [ProtobufMessage] = []
  private var locationMessages: [ProtobufMessage] = []
  private var numberOfLocation = LocationTable<UInt64>()
  private var numberOfMarker: [String: UInt64] = [:]

  private struct Function: Hashable {
    var name: String
    var symbol: String?
    var file: String?
  }

  /// Makes empty tables.
  ///
  /// - Parameters:
  ///   - names: Names of the stacks that samples will have.
  ///   - executable: The path of the program, empty where it is not known; viewers take the first
  ///     image for it.
  init(_ names: StackNames, executable: String) {
    self.names = names
    _ = texts.number(of: "")  // the format has it first
    if !executable.isEmpty { _ = imageNumber(executable, holding: 0) }
  }

  /// The number of a text.
  mutating func text(_ text: String) -> UInt64 { UInt64(texts.number(of: text)) }

  /// What a value is of, and its unit.
  mutating func type(_ name: String, _ unit: String) -> ProtobufMessage {
    var message = ProtobufMessage()
    message.add(1, text(name))
    message.add(2, text(unit))
    return message
  }

  /// What samples can be chosen by.
  mutating func label(_ key: String, _ value: String) -> ProtobufMessage {
    var message = ProtobufMessage()
    message.add(1, text(key))
    message.add(2, text(value))
    return message
  }

  /// The numbers of the frames of a stack, leaf first; the marker's alone where there is no stack.
  mutating func locations(of stack: StackID) -> [UInt64] {
    var result: [UInt64] = names.locations(of: stack).map { location, frame in
      if let known = numberOfLocation[location] { return known }
      let number = add(names.frames(of: frame))
      numberOfLocation[location] = number
      return number
    }
    if result.isEmpty { return [number(ofMarker: "<no stack recorded>")] }
    if names.lacksRoot(stack) { result.append(number(ofMarker: "<callers not known>")) }
    return result
  }

  private mutating func number(ofMarker name: String) -> UInt64 {
    if let known = numberOfMarker[name] { return known }
    let number = add([ReportFrame(name: name, role: .marker)])
    numberOfMarker[name] = number
    return number
  }

  /// Adds an address, of which these are the function and those that it is inlined into.
  private mutating func add(_ frames: [ReportFrame]) -> UInt64 {
    let number = UInt64(locationMessages.count) + 1
    var location = ProtobufMessage()
    location.add(1, number)
    if let frame = frames.last, let image = frame.image {
      location.add(2, imageNumber(image, holding: frame.imageOffset ?? 0))
      location.add(3, frame.imageOffset ?? 0)
    }
    for frame in frames {
      var line = ProtobufMessage()
      line.add(1, function(of: frame))
      line.add(2, UInt64(frame.line ?? 0))
      location.add(4, line)
    }
    locationMessages.append(location)
    return number
  }

  private mutating func function(of frame: ReportFrame) -> UInt64 {
    let key = Function(name: frame.name, symbol: frame.symbol, file: frame.file)
    let number = UInt64(functions.number(of: key)) + 1
    if number > functionMessages.count {
      var message = ProtobufMessage()
      message.add(1, number)
      message.add(2, text(frame.name))
      message.add(3, text(frame.symbol ?? frame.name))
      message.add(4, text(frame.file ?? ""))
      functionMessages.append(message)
    }
    return number
  }

  private mutating func imageNumber(_ path: String, holding offset: UInt64) -> UInt64 {
    let index = images.number(of: path)
    if index == imageParts.count { imageParts.append((text(path), 0)) }
    imageParts[index].end = max(imageParts[index].end, offset &+ 1)
    return UInt64(index) + 1
  }

  /// An image; its addresses are those of its file, so that it begins at 0 wherever it was loaded.
  private func image(_ index: Int) -> ProtobufMessage {
    var message = ProtobufMessage()
    message.add(1, UInt64(index) + 1)
    message.add(3, imageParts[index].end)
    message.add(5, imageParts[index].path)
    // All that viewers could look up in the file is there.
    for hasNames in 7...10 { message.add(hasNames, true) }
    return message
  }
}
