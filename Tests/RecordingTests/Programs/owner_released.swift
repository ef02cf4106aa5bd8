// What an object holds is used after the object has been released once too often.
final class Context {
  let name: String
  init(_ name: String) { self.name = name + ", which is too long for its word" }
}

@inline(never) func use(_ context: Unmanaged<Context>) -> String {
  context._withUnsafeGuaranteedRef { $0.name }
}

@inline(never) func release() -> Unmanaged<Context> {
  let context = Unmanaged.passRetained(Context("a name"))
  context.release()
  return context
}

let name = use(release())
withExtendedLifetime(name) {}
