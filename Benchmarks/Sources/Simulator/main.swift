// usage: cache-simulator [--check] TRACE...
//
// Prints how many requests and bytes the eviction policy of the stores answers, at exponents 1 (memory)
// and 0.5 (disk), beside LRU and the bound. --check fails if the means over the traces that have sizes
// miss what docs/performance.md says they must reach.
import HTTPCacheLibC

let arguments = CommandLine.arguments.dropFirst()
let paths = arguments.filter { $0 != "--check" }
guard !paths.isEmpty else {
  print("usage: cache-simulator [--check] TRACE...")
  exit(2)
}

var table = Table()
print(Table.head)
for path in paths {
  guard let trace = Trace(path: path) else {
    print("\(path) cannot be read, or is no trace")
    exit(2)
  }
  for share in [0.001, 0.01, 0.1] { print(table.row(of: trace, share: share)) }
}
print("\n" + table.means)
if arguments.contains("--check"), !table.isEnough { exit(1) }
