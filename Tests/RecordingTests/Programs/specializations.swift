// A generic class of so many types that the runtime keeps them in a table of hashes, to which a
// variable of the program points, with the table's size in its lowest bits.
final class Holder<T> {
  var value: T
  init(_ value: T) { self.value = value }
}
struct First { var number = 1 }
struct Second { var number = 1 }
struct Third { var number = 1 }

nonisolated(unsafe) var kept: [AnyObject] = []

@inline(never) func hold<T>(_ value: T) { kept.append(Holder(value)) }

func holdAll<T>(_ value: T) {
  hold(value)
  hold([value])
  hold([[value]])
  hold(Optional(value))
  hold(["key": value])
}

holdAll(1)
holdAll("text")
holdAll(2.5)
holdAll(First())
holdAll(Second())
holdAll(Third())
print(kept.count)
