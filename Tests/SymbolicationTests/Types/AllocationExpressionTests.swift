import Testing

@testable import Symbolication

/// The types that source lines name where they allocate.
@Suite struct AllocationExpressionTests {
  @Test(arguments: [
    ("  foo = new Foo;", 12, "Foo"),
    ("  auto *p = new ns::Foo<int, char>(1);", 13, "ns::Foo<int, char>"),
    ("  return new (std::nothrow) Foo{};", 30, "Foo"),
    ("  ints = new int[300];", 10, "int[]"),
    ("  table = new unsigned long *[count];", 0, "unsigned long *[]"),
    ("  add(new First, new Second);", 18, "Second"),
    ("  add(new First, new Second);", 8, "First"),
    ("  add(new First, new Second);", 0, nil),
    ("  add(new First, new Second);", 28, nil),
    ("  add(new Foo, new Foo);", 3, "Foo"),
    ("  p = new std::shared_ptr<O>(new O);", 35, "std::shared_ptr<O>"),
    ("  p = new std::shared_ptr<O>(new O);", 34, "O"),
    ("  p = new std::pair<O *, W *>(new O, new Work);", 46, "std::pair<O *, W *>"),
    ("  p = new std::pair<O *, W *>(new O, new Work);", 42, "Work"),
    ("  p = new std::pair<O *, W *>(new O, new Work);", 35, "O"),
    ("  p = new std::shared_ptr<W[]>(new W[3]);", 40, "std::shared_ptr<W[]>"),
    ("  p = new std::shared_ptr<W[]>(new W[3]);", 39, "W[]"),
    ("  p = new A(i < 3, new B(\")\"));", 29, "B"),
    ("  p = new A(i < 3, new B(\")\"));", 30, "A"),
    ("  p = c ? new A : new B(2);", 15, "A"),
    ("  p = c ? new A : new B(2);", 26, "B"),
    ("  p = new A(c, new short);", 25, nil),  // of either
    ("  sink(new unsigned long);", 7, "unsigned long"),
    ("      new O);", 12, nil),  // what begins in a line above
    ("  p = new A(1'000, '\"'); // new", 0, "A"),
    ("  p = new auto(c);", 17, nil),
    ("  renew(old);", 3, nil),
    ("  push(value);", 3, nil),
    ("  new", 3, nil),
  ])
  func newExpressions(line: String, column: Int, expected: String?) {
    #expect(AllocationExpression.typeOfNew(in: line, column: column) == expected)
  }

  @Test(arguments: [
    ("  node = malloc(sizeof(struct node));", "struct node"),
    ("  p = malloc(sizeof(Big) * 3);", "Big[]"),
    ("  p = malloc(n * sizeof (uint32_t));", "uint32_t[]"),
    ("  p = calloc(n, sizeof(Entry));", "Entry[]"),
    ("  p = calloc(1, sizeof(Entry));", "Entry"),
    ("  p = (struct list *)malloc(n);", "struct list"),
    ("  p = static_cast<Foo *>(malloc(n));", "Foo"),
    ("  p = (Foo *)xmalloc(sizeof(*p));", "Foo"),
    ("  p = malloc(sizeof(*p));", nil),
    ("  p = malloc(sizeof(buffer));", nil),
    ("  p = malloc(SIZE);", nil),
    ("  p = (void *)malloc(4);", nil),
    ("  p = malloc(a * (b + sizeof", nil),
  ])
  func sizesAndCasts(line: String, expected: String?) {
    #expect(AllocationExpression.typeOfSize(in: line) == expected)
  }

  private static let templates = [
    "template <class T> T *make(int n) {", "  return (T *)malloc(n);", "}",
    "template <typename Key, class Value = std::pair<Key, int>,", "          int N> struct Pool {",
    "  Value *get() { return (Value *)malloc(sizeof(Value) * N); }",
    "  template <class U> U *of() { return new U; }", "};",
  ]

  @Test(arguments: [
    ("T", "make<Node>", 2, "Node"),
    ("T[]", "make<std::vector<int>>", 2, "std::vector<int>[]"),
    ("Header", "make<Node>", 2, "Header"),
    ("Value", "Pool<char, Edge, 3>::get", 6, "Edge"),
    ("Key", "Pool<char>::get", 6, "char"),  // default arguments are not in the name
    ("Value", "Pool<char>::get", 6, nil),
    ("U", "Pool<char, Edge, 3>::of<Node>", 7, "Node"),
    ("U", "Other<char>::of<Node>", 7, nil),  // which list is it?
    ("T", "main", 2, "T"),
  ])
  func templateParameters(type: String, function: String, line: Int, expected: String?) {
    let resolved = TemplateParameters.resolve(type, in: function, at: line) {
      Self.templates.indices.contains($0 - 1) ? Self.templates[$0 - 1] : nil
    }
    #expect(resolved == expected)
  }
}
