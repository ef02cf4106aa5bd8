/// Types of the standard library of Rust, as debug information calls them.
enum RustLibraries {
  /// Where they are defined.
  static let namespaces: Set<String> = ["alloc", "core", "hashbrown", "std"]

  /// What does not keep the value that it points to, of `Rc` and of `Arc`.
  static let weakPointer = "Weak<"

  /// What counts who shares the value.
  static let countedPointers = ["Rc<", "Arc<"]

  /// Whether a structure is one whose members only the library knows.
  static func isType(_ name: String?) -> Bool {
    guard let name else { return false }
    // Pointers with a size or a table of functions beside them: `&str`, `alloc::boxed::Box<dyn Fn()>`.
    if name.hasPrefix("&") || name.hasPrefix("*") { return true }
    // Tuples are called by what is in them.
    let path = name.prefix { $0 != "<" && $0 != "(" }
    return types.contains(path.split(separator: ":").last ?? path)
  }

  /// Whether a structure is one of those that only have a value of another type in them, whose members are meant:
  /// those of `State` in a `RefCell<State>`.
  static func isWrapper(_ name: String?) -> Bool {
    guard let name else { return false }
    return wrappers.contains(name.prefix { $0 != "<" })
  }

  /// Whether a type is one in which values of the program may lie or be held: a wrapper, a container, a tuple, or what
  /// the elements of a `BTreeMap` lie in.
  static func holdsValues(_ name: String) -> Bool {
    name.hasPrefix("(") || isWrapper(name) || isType(name)
      || nodes.contains(name.prefix { $0 != "<" })
  }

  private static let nodes: Set<Substring> = ["InternalNode", "LeafNode"]

  private static let wrappers: Set<Substring> = [
    "Cell", "ManuallyDrop", "MaybeDangling", "MaybeUninit", "Mutex", "None", "OnceCell", "Option",
    "Pin", "RefCell",
    "RwLock", "Some", "UnsafeCell",
  ]

  private static let types: Set<Substring> = [
    "Arc", "AtomicPtr", "BTreeMap", "BTreeSet", "BinaryHeap", "Box", "Cell", "HashMap", "HashSet",
    "LinkedList", "ManuallyDrop", "MaybeDangling", "MaybeUninit", "Mutex", "NonNull", "Once",
    "OnceCell", "OnceLock",
    "Option", "OsString", "PathBuf", "Pin", "RawTable", "RawTableInner", "RawVec", "RawVecInner",
    "Rc", "RefCell", "RwLock", "String", "Unique", "UnsafeCell", "Vec", "VecDeque", "Weak",
  ]
}
