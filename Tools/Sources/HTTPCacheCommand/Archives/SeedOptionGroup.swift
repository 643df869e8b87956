import ArgumentParser
import Foundation
import HTTPCacheArchives
import HTTPCacheStore
import HTTPCaching

/// `--seed`: content to answer from while the cache has nothing newer.
struct SeedOptionGroup: ParsableArguments {
  @Option(
    name: .customLong("seed"),
    help: ArgumentHelp(
      "Answer from this archive, folder (host/path), HAR or WARC file where the cache has no response; repeat for several.",
      valueName: "path"))
  var paths: [String] = []

  /// Opens the archives and folders.
  ///
  /// - Parameter locating: adds to a message where the path is given.
  /// - Throws: `ExitCode` after a message on standard error.
  func open(locating: (String) -> String = { $0 }) throws -> [any SeedSource] {
    try paths.map { try Self.open($0, locating: locating) }
  }

  /// A store that has only the archives and folders.
  ///
  /// - Throws: `ExitCode` after a message on standard error.
  func store() throws -> any CacheStore {
    SeedLayer(base: MemoryStore(capacity: 0), seeds: try open()) { operation, error in
      Console.report("httpcache: \(operation): \(error)")
    }
  }

  /// Opens an archive, a folder or a recording.
  ///
  /// - Throws: `ExitCode` after a message on standard error.
  static func open(_ path: String, locating: (String) -> String = { $0 }) throws -> any SeedSource {
    do throws(CacheError) {
      let source = try Seeds.open(path: path)
      if let folder = source as? FolderSeed { report(folder.notes, of: folder.noteCount, in: path) }
      if let recording = source as? RecordingSeed {
        report(recording.notes, of: recording.noteCount, in: path)
      }
      return source
    } catch {
      Console.report("httpcache: " + locating("\(error)"))
      throw ExitStatus(error.code).code
    }
  }

  /// Reports parts of a source that are left out.
  ///
  /// - Parameter count: the number of all of them; there may be fewer notes.
  static func report(_ notes: [String], of count: Int, in path: String) {
    for note in notes { Console.report("httpcache: \(path): \(note)") }
    if count > notes.count {
      Console.report("httpcache: \(path): and \(count - notes.count) more that are left out, \(count) in all")
    }
  }

  /// When the responses of a seed were received.
  static func time(_ time: Timestamp) -> String {
    Date(timeIntervalSince1970: Double(time.seconds)).formatted(.iso8601)
  }
}
