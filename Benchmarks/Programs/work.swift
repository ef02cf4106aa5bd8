// A Swift program as they come: classes that refer to each other, strings, arrays, dictionaries,
// closures, existentials, generics. Deterministic: prints a checksum.
//
// usage: work ROUNDS

protocol Shape {
  func area() -> Double
}

struct Circle: Shape {
  var radius: Double
  func area() -> Double { 3 * radius * radius }
}

/// Five words: too large for an existential, which boxes it.
struct Polygon: Shape {
  var corners: (Double, Double, Double, Double)
  var name: String
  func area() -> Double { corners.0 * corners.1 + corners.2 * corners.3 + Double(name.count) }
}

final class Person {
  let name: String
  var friends: [Person] = []
  weak var manager: Person?
  init(name: String) { self.name = name }
}

indirect enum Expression {
  case number(Int)
  case sum(Expression, Expression)
  case product(Expression, Expression)

  func value() -> Int {
    switch self {
    case .number(let number): number
    case .sum(let left, let right): left.value() &+ right.value()
    case .product(let left, let right): (left.value() &* right.value()) % 1009
    }
  }
}

struct Generator {
  var state: UInt64 = 1
  mutating func next(_ bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % bound
  }
}

struct Workload {
  var random = Generator()

  mutating func expression(depth: Int) -> Expression {
    guard depth > 0 else { return .number(random.next(100)) }
    let left = expression(depth: depth - 1)
    let right = expression(depth: depth - 1 - random.next(2) % depth)
    return random.next(2) == 0 ? .sum(left, right) : .product(left, right)
  }

  mutating func people(_ count: Int) -> Int {
    let people = (0..<count).map { Person(name: "person number \($0) of a company") }
    for person in people {
      person.manager = people[random.next(count)]
      for _ in 0..<3 { person.friends.append(people[random.next(count)]) }
    }
    defer { people.forEach { $0.friends = [] } }
    return people.reduce(0) { $0 + ($1.manager?.name.utf8.count ?? 0) + $1.friends.count }
  }

  mutating func words(_ count: Int) -> Int {
    var places: [String: [Int]] = [:]
    for index in 0..<count {
      places["a word that is long, \(random.next(count / 4))", default: []].append(index)
    }
    let longest = places.sorted { ($0.value.count, $0.key) > ($1.value.count, $1.key) }.prefix(10)
    return longest.map(\.value.count).reduce(0, +)
  }

  mutating func shapes(_ count: Int) -> Int {
    let shapes: [any Shape] = (0..<count).map { _ in
      let size = Double(random.next(10))
      return random.next(2) == 0
        ? Circle(radius: size) : Polygon(corners: (size, 1, 2, 3), name: "polygon")
    }
    return Int(shapes.reduce(0) { $0 + $1.area() })
  }

  mutating func closures(_ count: Int) -> Int {
    var steps: [(Int) -> Int] = []
    for _ in 0..<count {
      let addend = random.next(10)
      steps.append { $0 &+ addend }
    }
    return steps.reduce(1) { $1($0) }
  }
}

var workload = Workload()
var checksum = 0
for _ in 0..<(Int(CommandLine.arguments.dropFirst().first ?? "") ?? 1) {
  checksum &+= workload.expression(depth: 11).value()
  checksum &+= workload.people(2000)
  checksum &+= workload.words(4000)
  checksum &+= workload.shapes(3000)
  checksum &+= workload.closures(3000)
}
print(checksum)
