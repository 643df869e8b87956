// usage: cache-benchmarks                   the tables
//        cache-benchmarks --row NAME CALLS  one row so many times, without output, for a profiler
//        cache-benchmarks --disk N,N [FOLDER [GROUP,GROUP]]  the tables of stores on disk with so many
//        entries; groups are open, hits, misses, insertions, files and upkeep
//        cache-benchmarks --rows            name|things that one call does|allocations per thing
//        cache-benchmarks --body-files      the table of bodies in files alone
//        cache-benchmarks --remove N        the time to remove all of so many entries
import HTTPCacheLibC

// Made when they are needed: what the threads of a store on disk do in between differs from run to run, and would be
// counted with the rows of other suites.
let suites: [(String, () throws -> [Row])] = [
  ("Decisions", decisionRows), ("Hits from memory", memoryHitRows), ("Misses", missRows),
  ("Hits over and from a disk", diskHitRows),
]
let arguments = CommandLine.arguments.dropFirst()

switch arguments.first {
case "--row":
  let name = arguments.dropFirst().first ?? ""
  var found: Row?
  for (_, makeRows) in suites where found == nil { found = try makeRows().first { $0.name == name } }
  guard let row = found else {
    print("there is no row \(name)")
    exit(2)
  }
  var sink = 0
  for _ in 0..<(arguments.dropFirst(2).first.flatMap { Int($0) } ?? 1) { sink &+= row.run() }
  blackHole(sink)
case "--rows":
  for row in try suites.flatMap({ try $0.1() }) where !row.isPeer {
    let allocations = Measurement(row, rounds: 1).allocations.map { rounded($0) } ?? "0"
    print("\(row.name)|\(row.count)|\(allocations)")
  }
case "--disk":
  let sizes = (arguments.dropFirst().first ?? "10000").split(separator: ",").compactMap { Int($0) }
  try await printDiskTables(
    sizes: sizes, folder: arguments.dropFirst(2).first,
    groups: arguments.dropFirst(3).first.map { Set($0.split(separator: ",").map { String($0) }) })
case "--body-files": try await BodyFiles().print()
case "--remove":
  try await RemovalBench(size: arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000).print()
default:
  for (title, makeRows) in suites {
    let rows = try makeRows()
    print("\n\(title)\n")
    print("| row | ns | a second | allocations |\n|---|---:|---:|---:|")
    for row in rows {
      let result = Measurement(row, rounds: 7)
      let perSecond = Int(1_000_000_000 / result.nanoseconds)
      let allocations = result.allocations.map { rounded($0) } ?? "–"
      print("| \(row.name) | \(Int(result.nanoseconds.rounded())) | \(perSecond) | \(allocations) |")
    }
  }
  try await printDiskTables(sizes: [10_000], folder: nil)
  try await BodyFiles().print()
}

/// With two digits after the point.
func rounded(_ number: Double) -> String {
  let hundredths = Int((number * 100).rounded())
  let rest = hundredths % 100
  return "\(hundredths / 100)." + (rest < 10 ? "0" : "") + "\(rest)"
}
