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
      "Answer from this archive or folder (host/path) where the cache has no response; repeat for several.",
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

  /// Opens an archive, or a folder.
  ///
  /// - Throws: `ExitCode` after a message on standard error.
  static func open(_ path: String) throws -> any SeedSource {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      Console.report("httpcache: there is no archive or folder \(path)")
      throw ExitStatus.cacheUnavailable.code
    }
    do throws(CacheError) {
      guard isFolder.boolValue else { return try ArchiveSeed(path: path) }
      let folder = try FolderSeed(path: path)
      for note in folder.notes { Console.report("httpcache: \(path): \(note)") }
      return folder
    } catch {
      throw ExitStatus.reporting(error)
    }
  }

  /// When the responses of a seed were received.
  static func time(_ time: Timestamp) -> String {
    Date(timeIntervalSince1970: Double(time.seconds)).formatted(.iso8601)
  }
}
