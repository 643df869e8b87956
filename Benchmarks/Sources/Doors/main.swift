// Hits of 1 KiB through the engine and its doors, beside Foundation's own.
//
// usage: door-benchmark              the table
//        door-benchmark NAME CALLS   one row so many times, without output, for a profiler
import Foundation

let rows = try await DoorRows.make()
let arguments = CommandLine.arguments.dropFirst()
if let name = arguments.first {
  guard let row = rows.first(where: { $0.name == name }) else {
    print("there is no row \(name)")
    exit(2)
  }
  let calls = arguments.dropFirst().first.flatMap { Int($0) } ?? 1
  try await Task.detached { for _ in 0..<calls { try await row.call() } }.value
} else {
  // Outside of the main actor, because each call would change threads to and from it.
  try await Task.detached {
    print("| row | µs, best | µs, median | allocations |\n|---|---:|---:|---:|")
    // Times first: counting on all threads would slow them down.
    var times: [[Double]] = []
    for row in rows { times.append(try await row.measured()) }
    for (row, times) in zip(rows, times) {
      let allocations = try await row.allocations().map { String(format: "%.0f", $0) } ?? "–"
      let (best, median) = (times[0], times[times.count / 2])
      print("| \(row.name) | \(String(format: "%.1f | %.1f", best, median)) | \(allocations) |")
    }
  }.value
}
