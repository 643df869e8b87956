import HTTPCacheFaults
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes

/// A process that opens a directory with unencrypted content with a key, and is killed at one of its system calls.
enum RemovalWorker {
  static let argument = "removal-worker"

  static func run(_ arguments: [String]) throws -> Bool {
    guard arguments.count == 3, arguments[0] == argument, let number = Int(arguments[2]) else { return false }
    let faults = try SystemFaults(below: arguments[1])
    faults.fail(.changing, with: .kill, at: number)
    _ = try TortureStore(faults.folder + "/cache", isEncrypted: true)
    return true
  }
}

extension Torture {
  /// Kills a process at each system call that removes unencrypted content, opens the directory again, and searches
  /// every file for unencrypted bytes.
  func removals() async throws -> Bool {
    let start = ContinuousClock.now
    let place = try place("removals")
    let texts = try await makePlain(place + "/plain")
    var report = SweepReport()
    guard try !found(texts, in: place + "/plain").isEmpty else {
      say("removals: nothing lies there in the clear to begin with")
      return false
    }
    // The number of calls is not known before: about a hundred.
    for number in stride(from: 1, through: .max, by: min(options.step, 5)) {
      let folder = place + "/run-\(number)"
      defer { FileTree.remove(folder) }
      try FileTree.make(folder)
      try FileTree.copy(place + "/plain", to: folder + "/cache")
      let child = try ChildProcess(program, [RemovalWorker.argument, folder, "\(number)"])
      _ = child.readToEnd()
      let end = child.wait()
      report.runs += 1
      do {
        let opened = try TortureStore(folder + "/cache", isEncrypted: true)
        let left = try found(texts, in: folder + "/cache")
        if !left.isEmpty {
          report.violations.append("killed at call \(number): \(left.count) texts are left")
        }
        report.found += try await WorkloadAudit.run(on: opened.store, keys: DamageWorker.keys)
      } catch {
        report.violations.append("killed at call \(number): \(error)")
      }
      if end == .exited(0) { break }
      if !end.isExpectedOfKill {
        report.violations.append("call \(number): the process ended otherwise: \(end)")
      }
    }
    say("killed while what is not encrypted is removed: \(report) [\(seconds(since: start)) s]")
    return report.violations.isEmpty
  }

  // A directory in use: rows, files of complete and partial bodies, a log, and unfinished files.
  private func makePlain(_ directory: String) async throws -> [[UInt8]] {
    let opened = try TortureStore(directory + ".used", isEncrypted: false)
    var texts = [Array("https://example.com".utf8)]
    let unfinished = DamageWorker.keys.upperBound - 2
    for key in DamageWorker.keys {
      let version = SampleVersion(
        key: key, writer: 1, number: key,
        length: key == unfinished ? 700_000 : [300, 20_000, 60_000][key % 3])
      let writer = try await opened.store.write(version.record(isResumable: true), variantLimit: 8)
      try await writer.append(version.body.prefix(key % 4 == 1 ? version.length / 2 : version.length))
      texts.append(version.body.prefix(24).array)
      switch key % 4 {
      case 1: _ = try await writer.keep()
      case 2 where key == unfinished:
        try FileTree.copy(directory + ".used", to: directory)
      default: try await writer.commit(trailers: [:])
      }
    }
    return texts
  }

  private func found(_ texts: [[UInt8]], in directory: String) throws -> [[UInt8]] {
    var left: [[UInt8]] = []
    for file in FileTree.contents(of: directory) where !file.isFolder {
      let path = directory + "/" + file.path
      // The open store deletes what the killed process left, such as its owner lock, at any time.
      guard let bytes = try FileTree.readIfPresent(path) else { continue }
      left += texts.filter { Self.contains($0, bytes) }
    }
    return left
  }

  private static func contains(_ text: [UInt8], _ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBufferPointer { bytes in
      text.withUnsafeBufferPointer { text in
        guard let first = text.first, bytes.count >= text.count else { return false }
        for start in 0...bytes.count - text.count where bytes[start] == first {
          var index = 1
          while index < text.count, bytes[start + index] == text[index] { index += 1 }
          if index == text.count { return true }
        }
        return false
      }
    }
  }
}
