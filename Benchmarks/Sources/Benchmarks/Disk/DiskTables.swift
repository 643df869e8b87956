import Foundation

/// Prints the cost of a store on disk beside SQLite alone.
///
/// - Parameters:
///   - sizes: the number of entries that are stored before measuring.
///   - folder: where the filled stores are kept for the next run; nil for a temporary folder.
///   - groups: the names of groups of rows; nil for all.
func printDiskTables(sizes: [Int], folder: String?, groups: Set<String>? = nil) async throws {
  for size in sizes { try await printDiskTable(size: size, folder: folder, groups: groups) }
}

private let diskGroups: [(String, @Sendable (DiskBench) async throws -> [(String, Timings)])] = [
  ("open", { try await $0.opening() }), ("hits", { try await $0.hits() }),
  ("misses", { try await $0.misses() }), ("insertions", { try await $0.insertions() }),
  ("files", { try await $0.files() }), ("upkeep", { try await $0.upkeep() }),
]

private func printDiskTable(size: Int, folder: String?, groups: Set<String>?) async throws {
  let path =
    folder.map { "\($0)/\(size)" }
    ?? FileManager.default.temporaryDirectory.appendingPathComponent("cache-benchmarks-\(UUID().uuidString)")
    .path
  defer { if folder == nil { try? FileManager.default.removeItem(atPath: path) } }
  let bench = try await DiskBench(size: size, folder: path)
  print("\nDisk, \(size) entries\n")
  print("| row | median µs | mean µs | processor µs | median to the first | mean to the first |")
  print("|---|---:|---:|---:|---:|---:|")
  for (group, measure) in diskGroups where groups?.contains(group) ?? true {
    let rows = try await measure(bench)
    for (name, timings) in rows {
      var line = "| \(name) | \(rounded(timings.median)) | \(rounded(timings.mean)) "
      line += "| \(rounded(timings.processorMean)) "
      if name.hasPrefix("store") || name.hasPrefix("engine"), let floor = rows.first?.1 {
        line += "| \(rounded(timings.median / floor.median)) | \(rounded(timings.mean / floor.mean)) |"
      } else {
        line += "| | |"
      }
      print(line)
    }
  }
}
