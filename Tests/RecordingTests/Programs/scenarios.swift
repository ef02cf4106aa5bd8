// A view controller that loses what it makes: a container when it goes, a text at each action.
final class Container {
  var numbers = [1, 2, 3]
}

final class Text {
  let characters: String
  init(_ characters: String) { self.characters = characters }
}

final class ViewController {
  private let container: Unmanaged<Container>
  private var label: Unmanaged<Text>?

  init() { container = Unmanaged.passRetained(Container()) }

  @inline(never) func setText(_ number: Int) {
    label = Unmanaged.passRetained(Text("the text of the action number \(number)"))
  }
}

@inline(never) func show() {
  let controller = ViewController()
  controller.setText(1)
  controller.setText(2)
}

show()
