// What closures capture, and what lies in boxes. Each keeper holds itself by way of one.
protocol Shape { func use() }
struct Square: Shape {
  var side = 1
  func use() {}
}

struct Settings {
  var name: String
  var level: Int32
  var owner: Keeper?
}

indirect enum Tree {
  case leaf(Keeper?)
  case node(Tree, Tree)
}

struct Refusal: Error {
  var text: String
  var owner: Keeper?
}

final class Keeper {
  var call: (() -> Void)?
  var error: (any Error)?
  var tree = Tree.leaf(nil)
  var number = 0
  func use() { number += 1 }
}

@inline(never) func use<T>(_ value: T) {}

@inline(never) func capture(_ first: Bool, _ keeper: Keeper) {
  keeper.call = {
    use(first)
    keeper.use()
  }
}

@inline(never) func captureTuple(_ pair: (Int, Keeper), _ text: String) {
  pair.1.call = {
    use(pair)
    use(text)
  }
}

@inline(never) func captureStructure(_ settings: Settings, _ text: String) {
  settings.owner?.call = {
    use(settings)
    use(text)
  }
}

/// The closure's type does not tell how large a value is that a generic function is given.
@inline(never) @_semantics("optimize.sil.specialize.generic.never")
func captureGeneric<Value>(_ value: Value, _ keeper: Keeper) {
  keeper.call = {
    use(value)
    keeper.use()
  }
}

@inline(never) @_semantics("optimize.sil.specialize.generic.never")
func captureGenericAlone<Value>(_ value: Value, _ keeper: Keeper) {
  keeper.call = { use(value) }
}

@inline(never) func captureVariable(_ keeper: Keeper) {
  var settings = Settings(name: "variable", level: 1, owner: keeper)
  keeper.call = {
    settings.level += 1
    use(settings)
  }
}

@inline(never) func captureAny(_ keeper: Keeper, _ shape: any Shape, _ other: Keeper) {
  keeper.call = {
    keeper.use()
    shape.use()
    use(other)
  }
}

@inline(never) func grow(_ keeper: Keeper) {
  keeper.tree = .node(.leaf(nil), .leaf(keeper))
}

@inline(never) func refuse(_ keeper: Keeper) {
  keeper.error = Refusal(text: "error", owner: keeper)
}

capture(true, Keeper())
captureTuple((1, Keeper()), "text")
captureStructure(Settings(name: "structure", level: 1, owner: Keeper()), "text")
captureVariable(Keeper())
captureAny(Keeper(), Square(), Keeper())
@inline(never) func captureInGenericCode(_ first: Keeper, _ second: Keeper) {
  captureGeneric(first, first)
  captureGenericAlone(second, second)
}
captureInGenericCode(Keeper(), Keeper())
grow(Keeper())
refuse(Keeper())
