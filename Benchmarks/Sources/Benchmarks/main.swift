// usage: cache-benchmarks                   the tables
//        cache-benchmarks --row NAME CALLS  one row so many times, without output, for a profiler
//        cache-benchmarks --disk N,N [FOLDER [GROUP,GROUP]]  the tables of stores on disk with so many
//        entries; groups are open, hits, misses, insertions, files and upkeep
//        cache-benchmarks --rows            name|things that one call does|allocations per thing
//        cache-benchmarks --body-files      the table of bodies in files alone
//        cache-benchmarks --remove N        the time to remove all of so many entries
import HTTPCacheLibC

let suites = [
  ("Decisions", try decisionRows()), ("Hits from memory", try memoryHitRows()),
  ("Misses", try missRows()), ("Hits over and from a disk", try diskHitRows()),
]
let arguments = CommandLine.arguments.dropFirst()

switch arguments.first {
case "--row":
  let name = arguments.dropFirst().first ?? ""
  guard let row = suites.flatMap(\.1).first(where: { $0.name == name }) else {
    print("there is no row \(name)")
    exit(2)
  }
  var sink = 0
  for _ in 0..<(arguments.dropFirst(2).first.flatMap { Int($0) } ?? 1) { sink &+= row.run() }
  blackHole(sink)
case "--rows":
  for row in suites.flatMap(\.1) where !row.isPeer {
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
  for (title, rows) in suites {
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
