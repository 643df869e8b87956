import Foundation

/// Prints what a store on disk takes beside SQLite alone.
///
/// - Parameters:
///   - sizes: how many entries are stored before anything is measured.
///   - folder: where the stores are kept, filled, for the next time; nil for a temporary one.
func printDiskTables(sizes: [Int], folder: String?) async throws {
  for size in sizes { try await printDiskTable(size: size, folder: folder) }
}

private func printDiskTable(size: Int, folder: String?) async throws {
  let path =
    folder.map { "\($0)/\(size)" }
    ?? FileManager.default.temporaryDirectory.appendingPathComponent("cache-benchmarks-\(UUID().uuidString)")
    .path
  defer { if folder == nil { try? FileManager.default.removeItem(atPath: path) } }
  let bench = try await DiskBench(size: size, folder: path)
  print("\nDisk, \(size) entries\n")
  print("| row | median µs | mean µs | processor µs | median to the first | mean to the first |")
  print("|---|---:|---:|---:|---:|---:|")
  for rows in [
    try await bench.opening(), try await bench.hits(), try await bench.misses(), try await bench.insertions(),
    try await bench.files(), try await bench.upkeep(),
  ] {
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
