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
    ("  p = new Foo<(8>>1)>;", 7, "Foo<(8>>1)>"),
    ("  p = new ns::Foo<(N > 3), W<(1<<2)>>(1);", 7, "ns::Foo<(N > 3), W<(1<<2)>>"),
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
    ("  p = new A; /* new B", 0, "A"),  // a comment that goes on
    ("  p = new /* B */ A /", 0, "A"),
    ("  p = new A * /*/ new B", 0, "A *"),
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
    ("  p = (char *)malloc(n + 1);", "char[]"),
    ("  p = (unsigned char *)realloc(p, 2 * n);", "unsigned char[]"),
    ("  p = (uint8_t *)malloc(sizeof(buffer));", "uint8_t[]"),
    ("  p = (int *)malloc(sizeof(int));", "int"),
    ("  p = (Foo *)malloc(n * sizeof *p);", "Foo[]"),
    ("  p = (handle_t *)malloc(n);", "handle_t"),
    ("  p = malloc(a * (b + sizeof", nil),
    ("  p = malloc(n); // sizeof(Foo)", nil),
    ("  p = malloc(77); /* not sizeof(struct node) */", nil),
    ("  p = malloc(/* one */ sizeof(struct node));", "struct node"),
    ("  p = malloc(100); memset(p, 0, sizeof(struct rec));", nil),
    ("  fread(&r, sizeof(struct rec), 1, file);", nil),
    ("  p = sizeof(int) == 4 ? strdup(text) : 0;", nil),
    ("  q = (void **)p; p[4] = malloc(10);", nil),
    ("  p = calloc( 1, sizeof(struct node));", "struct node"),
    ("  p = calloc(sizeof(struct node), 1);", "struct node"),
    ("  p = reallocarray(p, n, sizeof(Entry));", "Entry[]"),
    ("  p = realloc(p, sizeof(Entry));", "Entry"),
    ("  p = malloc(sizeof(struct a)); q = malloc(sizeof(struct b));", nil),
    ("  p = malloc(sizeof(struct a)); q = malloc(sizeof(struct a));", "struct a"),
    ("  p = malloc(sizeof(struct head) + n * sizeof(int));", "struct head"),
    ("  p = reinterpret_cast<ns::Foo *>(std::malloc(n));", "ns::Foo"),
    ("  p = (Foo **) malloc (n);", "Foo *"),
    ("  p = (Tree<int> *)malloc(n);", "Tree<int>"),
    ("  p = (ns::Map<Tree<int>, char *> *)calloc(3, sizeof *p);", "ns::Map<Tree<int>, char *>[]"),
    ("  p = static_cast<ns::Tree<int>*>(malloc(n));", "ns::Tree<int>"),
    ("  if (a < b) p = (Tree<int> *)malloc(n);", "Tree<int>"),
    ("  q = int> *)malloc(n);", nil),
    ("  p = CREATE(struct node, 4);", "struct node[]"),
    ("  offset = offsetof(struct node, next);", nil),
    ("  p = g_new0 (Foo, 1);", "Foo"),
    ("  p = g_new(char *, count + 1);", "char *[]"),
    ("  p = check(XNEWVEC (struct edge, n));", "struct edge[]"),
    ("  p = talloc_zero(parent(a, b), struct request);", "struct request"),
    ("  p = MALLOC(Node);", "Node"),
    ("  p = node_alloc(pool, struct node);", "struct node"),
    ("  p = malloc(Size);", nil),
    ("  p = json_object_new(Name);", nil),
    ("  p = g_new0 (foo, 1);", nil),
    ("  p = renew(Foo, 1);", nil),
  ])
  func sizesAndCasts(line: String, expected: String?) {
    #expect(AllocationExpression.typeOfSize(in: line) == expected)
  }

  /// A function that is named like an allocator itself.
  @Test(arguments: [(0, nil), (28, "Node[]"), (33, "Node[]"), (39, "Node[]"), (4, nil), (40, nil)])
  func callsAreToldByTheirColumn(column: Int, expected: String?) {
    let line = "T *allocate(int n) { return std::malloc(n * sizeof(Node)); }"
    #expect(
      AllocationExpression.typeOfSize(in: line, column: column > 0 ? column + 1 : 0) == expected)
  }

  @Test(arguments: [
    ("  struct node *n = malloc(sizeof *n);", "<n *>"),
    ("  n = malloc(sizeof(*n));", "<n *>"),
    ("  n = malloc(count * sizeof *n);", "<n *>[]"),
    ("  n = calloc(count, sizeof n[0]);", "<n *>[]"),
    ("  n = calloc(1, sizeof *n * 4);", "<n *>[]"),
    ("  n = xmalloc(sizeof **table);", "<table * *>"),
    ("  l->head = malloc(sizeof (*l->head));", "<l * head *>"),
    ("  l.head = malloc(sizeof *l.head + 4);", "<l head *>"),
    ("  l->all[i] = malloc(sizeof(*(l -> all)[i++]));", "<l * all * *>"),
    ("  p = malloc(sizeof(buffer));", "<buffer>"),
    ("  p = (Foo *)malloc(sizeof *p);", "Foo"),
    ("  p = malloc(sizeof(size(p)));", nil),
    ("  p = malloc(sizeof((struct node *)q));", nil),
    ("  p = malloc(sizeof(\"text\"));", nil),
    ("  p = malloc(sizeof(4));", nil),
    ("  p = malloc(sizeof(*));", nil),
    ("  p = malloc(sizeof(a + b));", nil),
  ])
  func sizesOfObjects(line: String, expected: String?) {
    let found = AllocationExpression.typeOfSize(in: line) { object in
      let steps = object.steps.map { step in
        switch step {
        case .target: " *"
        case .member(let name): " \(name)"
        }
      }
      return "<\(object.root)\(steps.joined())>"
    }
    #expect(found == expected)
  }

  @Test(arguments: [
    ("  p = malloc(", true), ("  p = malloc(n *", true), ("  p = malloc(sizeof *p);", false),
    ("  if (!(p = malloc(n))) {", false), ("  }", false), ("void f(int a,", true),
    ("  p = f(\"(\", ')'", true), ("  while (next(p)) { p = malloc(", false),
  ])
  func callsOfSeveralLines(line: String, goesOn: Bool) {
    #expect(AllocationExpression.goesOn(line) == goesOn)
  }

  @Test func theColumnTellsWhichCallIsMeant() {
    let line = "  p = malloc(sizeof(struct a)); q = malloc(sizeof(struct b)); r = free(p);"
    #expect(AllocationExpression.typeOfSize(in: line, column: 7) == "struct a")
    #expect(AllocationExpression.typeOfSize(in: line, column: 37) == "struct b")
    #expect(AllocationExpression.typeOfSize(in: line, column: 65) == nil)
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
    let heads = TemplateParameters.heads(in: Self.templates.map { $0[...] })
    let resolved = TemplateParameters.resolve(type, in: function, at: line, heads: heads)
    #expect(resolved == expected)
  }

  private static let aliases = [
    "using Outer = Node<int>;", "template <class T> struct Pool {", "  struct Other {",
    "    typedef long value_type;", "  };", "  typedef T value_type; // { typedef char value_type;",
    "  using node_type = typename Traits<T>::node;", "  value_type *get() {",
    "    for (;;) { using Entry = Pair<T,", "          int>;", "    }",
    "    using Entry = std::pair<T, int>; return new Entry(); using Late = T;",
    "    return (Entry *)new node_type; } };", "} }", "Late *late() {",
  ]

  @Test(
    arguments: [
      ("value_type", 8, 0, .type("T")), ("value_type", 4, 30, .type("long")),
      ("node_type", 13, 20, .untold), ("Entry", 9, 0, nil),
      ("Entry", 10, 0, .type("Pair<T,           int>")), ("Entry", 11, 0, nil),
      ("Entry", 12, 50, .type("std::pair<T, int>")), ("Late", 12, 50, nil),
      ("Late", 12, 0, .type("T")), ("Outer", 13, 0, .type("Node<int>")), ("Late", 15, 0, nil),
      ("Outer", 15, 0, nil), ("Node", 8, 0, nil), ("Outer", 99, 0, nil), ("Outer", 0, 0, nil),
    ] as [(String, Int, Int, SourceAliases.Meaning?)])
  func namesForTypes(name: String, line: Int, column: Int, expected: SourceAliases.Meaning?) {
    let meaning = SourceAliases.meaning(
      of: name, at: line, column: column, in: Self.aliases.map { $0[...] })
    #expect(meaning == expected)
  }

  @Test(
    arguments: [
      (
        "  let nodes = UnsafeMutablePointer<Node>.allocate(capacity: 4)",
        "UnsafeMutablePointer<Node>"
      ),
      (
        "  let p: UnsafeMutablePointer<(Int) -> [Int]> = .allocate(capacity: n)",
        "UnsafeMutablePointer<(Int) -> [Int]>"
      ),
      (
        "  return UnsafeMutableBufferPointer<T?>.allocate(capacity: n) // UnsafeMutablePointer<Int>",
        "UnsafeMutableBufferPointer<T?>"
      ),
      ("  nodes = .allocate(capacity: 4)", nil),
      ("  let raw = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)", nil),
      (
        "  use(UnsafeMutablePointer<A>.allocate(capacity: 1), .allocate(byteCount: 8, alignment: 8))",
        nil
      ),
      (
        "  use(UnsafeMutablePointer<A>.allocate(capacity: 1), UnsafeMutablePointer<B>.allocate(capacity: 1))",
        nil
      ),
      ("  let nodes = pool.allocate(capacity: 4)", nil), ("  UnsafeMutablePointer<", nil),
      ("", nil),
    ] as [(String, String?)])
  func memoryThatSwiftAsksFor(_ line: String, _ pointer: String?) {
    #expect(SwiftPointerExpression.pointer(in: line) == pointer)
  }
}
