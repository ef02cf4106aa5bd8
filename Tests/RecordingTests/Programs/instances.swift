// Objects and arrays of many types from one generic function: only the first are looked at while it runs.

final class Held<Value> {
  var values: [Value]
  let padding: (Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0)
  init(_ values: [Value]) { self.values = values }
}

protocol Made { init() }
extension String: Made {}
extension Int: Made {}
extension Double: Made {}

@inline(never) func hold<Value: Made>(_ type: Value.Type) -> AnyObject {
  Held([Value()])
}

var held: [AnyObject] = []
let types: [any Made.Type] =
  Array(repeating: String.self, count: 200) + [Int.self, Double.self, Int.self]
for type in types {
  let object = hold(type)
  if type != String.self { held.append(object) }
}
print(held.count)
