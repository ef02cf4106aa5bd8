"""Builds, sorts and drops a few hundred thousand small objects."""

table = {}
for i in range(150000):
    table[str(i)] = [i, str(i * 2), (i, i + 1)]
for _ in range(3):
    ordered = sorted(table.values(), key=lambda row: row[1])
    total = sum(len(str(row)) for row in ordered)
print(total)
