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
  /// - Throws: `ExitCode` after a message on standard error.
  func open() throws -> [any SeedSource] { try paths.map(Self.open) }

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
  static func open(_ path: String) throws -> any SeedSource {
    do throws(CacheError) {
      let source = try Seeds.open(path: path)
      let notes = (source as? FolderSeed)?.notes ?? (source as? RecordingSeed)?.notes ?? []
      for note in notes { Console.report("httpcache: \(path): \(note)") }
      return source
    } catch {
      throw ExitStatus.reporting(error)
    }
  }

  /// When the responses of a seed were received.
  static func time(_ time: Timestamp) -> String {
    Date(timeIntervalSince1970: Double(time.seconds)).formatted(.iso8601)
  }
}
