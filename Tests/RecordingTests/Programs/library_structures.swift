import Foundation

// Structures that libraries define, with objects of the program in them that hold each other.
final class Keeper {
  var notes: [Notification] = []
  var named: [String: Notification] = [:]
  var call: (() -> String)?
  var streams: [Zip2Sequence<[Keeper], [Int]>] = []
  var last = Notification(name: Notification.Name("none"))
  var pairs = zip([Keeper](), [1])
}

@inline(never) func note(of keeper: Keeper) -> Notification {
  Notification(name: Notification.Name("a name that is longer than a short one"), object: keeper)
}

@_optimize(none) func keepInArray() {
  let keeper = Keeper()
  keeper.notes = [Notification(name: Notification.Name("first")), note(of: keeper)]
}

@_optimize(none) func keepInDictionary() {
  let keeper = Keeper()
  keeper.named["one"] = note(of: keeper)
}

@_optimize(none) func keepInClosure() {
  let keeper = Keeper()
  let note = note(of: keeper)
  let number = keeper.notes.count
  keeper.call = { "\(note.name.rawValue) \(number)" }
}

@_optimize(none) func keepInGeneric() {
  let keeper = Keeper()
  keeper.streams = [zip([keeper], [1]), zip([], [])]
}

@_optimize(none) func keepInProperties() {
  let keeper = Keeper()
  keeper.last = note(of: keeper)
  let other = Keeper()
  other.pairs = zip([other], [1])
}

keepInArray()
keepInDictionary()
keepInClosure()
keepInGeneric()
keepInProperties()
