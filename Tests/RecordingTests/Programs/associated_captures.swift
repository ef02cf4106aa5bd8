// Closures of generic functions that capture values whose types are named after associated types
// of several parameters, and mean them again. All alive until the end.
protocol Source {
  associatedtype Output
  associatedtype Failure
}

struct Just<Output, Failure>: Source {}

nonisolated(unsafe) var kept: [() -> Void] = []

@inline(never) func use<T>(_ value: T) {}

@inline(never) func combine<First: Source, Second: Source, Value>(
  _ first: First, _ second: Second, _ body: @escaping (First.Output, Second.Output) -> Value
) {
  kept.append { use(body) }
}

extension Source {
  @inline(never) func recover<Other: Source>(
    _ other: Other,
    _ body: @escaping (Other.Output?, Just<Other.Output, Other.Failure>, Output) -> Failure
  ) {
    kept.append { use(body) }
  }

  @inline(never) func divide<Other: Source>(
    _ other: Other,
    _ body: @escaping (Other.Output.Element, Other.Output, Other.Output.Index) -> Output
  ) where Other.Output: Collection {
    kept.append { use(body) }
  }
}

struct Outer<First: Source> {
  struct Inner<Second: Source> {
    @inline(never) func nest<Third: Source>(
      _ third: Third,
      _ body: @escaping (First.Output, Second.Output, Third.Output, First.Output) -> Third.Failure
    ) {
      kept.append { use(body) }
    }
  }
}

combine(Just<Int, Error>(), Just<String, Error>()) { "\($0)\($1)" }
Just<Int, Bool>().recover(Just<String, Error>()) { _, _, _ in true }
Just<Int, Bool>().divide(Just<String, Error>()) { _, _, _ in 1 }
Outer<Just<Int, Bool>>.Inner<Just<String, Bool>>().nest(Just<Int8, Bool>()) { _, _, _, _ in true }
print(kept.count)
