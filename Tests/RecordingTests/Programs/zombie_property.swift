// Uses an object by a reference that does not hold it. With -O what takes it down is inlined.
final class Account {
  var number = 7
  var name = "a name"
}

final class Bank {
  unowned(unsafe) var current: Account?
  var account: Account?
}

nonisolated(unsafe) var bank = Bank()

@inline(never) func open() {
  let account = Account()
  bank.current = account
  bank.account = account
}

@inline(never) func close() { bank.account = nil }

@inline(never) func use() -> Int { bank.current?.number ?? 0 }

open()
close()
print(use())
