import Testing
import TraceReader
import TraceTestSupport

@Suite struct StackMapTests {
  @Test func valuesAreThoseOfTheirStacks() throws {
    var trace = TraceBuilder()
    let (left, right) = (trace.stack([0x31, 0x20, 0x10]), trace.stack([0x32, 0x20, 0x10]))
    try trace.open { opened in
      var map = StackMap<String?>(opened.stacks)
      #expect(map[left] == .none)
      map.set("right", of: right)
      map.set(nil, of: left)
      #expect(map[right] == .some("right"))
      #expect(map[left] == .some(nil))
      map.set("left", of: left)
      #expect(map[left] == .some("left"))
      #expect(map.values == ["right", "left"])
    }
  }

  @Test func valuesChangeWhereTheyLie() throws {
    var trace = TraceBuilder()
    let stack = trace.stack([0x30, 0x20, 0x10])
    try trace.open { opened in
      var map = StackMap<[Int]>(opened.stacks)
      for number in 1...3 { map[stack, default: []].append(number) }
      #expect(map[stack] == [1, 2, 3])
      #expect(map[stack, default: []] == [1, 2, 3])
      let caller = try #require(opened.stacks.parent(of: stack))
      #expect(map[caller, default: [7]] == [7])
      #expect(map.values == [[1, 2, 3]])
    }
  }

  /// A damaged trace may name stacks that it does not have.
  @Test func stacksOfNoTableHaveValuesOfTheirOwn() throws {
    var trace = TraceBuilder()
    let stack = trace.stack([0x30])
    try trace.open { opened in
      var map = StackMap<Int>(opened.stacks)
      let unknown = StackID(.max)
      map.set(1, of: .none)
      map[unknown, default: 40] += 2
      #expect([map[.none], map[unknown], map[stack]] == [1, 42, nil])
      map.set(3, of: stack)
      #expect(map.values.sorted() == [1, 3, 42])
    }
  }
}
