// References that outlive their object without holding it: its memory stays.
#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

final class Owner {
  var number = 1
}

final class User {
  unowned let owner: Owner
  init(_ owner: Owner) { self.owner = owner }
}

/// Its deinitializer hands the object out, which the runtime does not let pass.
final class Escaping {
  var number = 1
  deinit { escaped = self }
}

nonisolated(unsafe) var escaped: Escaping?
nonisolated(unsafe) var users: [User] = []
nonisolated(unsafe) var kept: Owner?

@inline(never) func makeUsers() {
  let owner = Owner()
  for _ in 0..<3 { users.append(User(owner)) }
  let living = Owner()
  users.append(User(living))
  kept = living
}

/// As large as a side table.
final class Large {
  var numbers = (1, 2)
}

nonisolated(unsafe) var large: [Large] = []
nonisolated(unsafe) var small: [Owner] = []
nonisolated(unsafe) weak var latest: Owner?

/// Side tables get the memory of objects that were deinitialized, more of them than the allocator clears for later.
@inline(never) func makeSideTables() {
  for _ in 0..<40 { large.append(Large()) }
  large.removeAll()
  for _ in 0..<40 {
    let owner = Owner()
    small.append(owner)
    latest = owner
  }
}

@inline(never) func read(_ user: User) -> Int { user.owner.number }

makeUsers()
makeSideTables()
print(users.count, kept == nil)
switch CommandLine.arguments.dropFirst().first {
case "read": print(read(users[0]))
case "abort":
  users.removeFirst(3)
  abort()
case "escape":
  users.removeFirst(3)
  withExtendedLifetime(Escaping()) {}
default: break
}
