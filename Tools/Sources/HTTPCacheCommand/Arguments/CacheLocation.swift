import ArgumentParser
import Foundation
import HTTPCaching

/// Which cache on disk a command works on.
struct CacheLocation: ParsableArguments {
  /// `--shared` and `--private`.
  enum ModeFlag: String, EnumerableFlag {
    case shared
    case `private`

    static func help(for value: ModeFlag) -> ArgumentHelp? {
      value == .shared ? "The cache of many users." : "The cache of this user (the default)."
    }
  }

  @Option(name: .customLong("dir"), help: "The directory of the cache.")
  var directory: String?

  @Flag var modeFlag: ModeFlag?

  /// Private or shared (RFC 9111 §1).
  var mode: CacheMode { modeFlag == .shared ? .shared : .private }

  /// The mode that entries are filtered by: all of them in a directory that was named without one.
  var listedMode: CacheMode? { directory != nil && modeFlag == nil ? nil : mode }

  /// The directory: the one given, else the default of the mode.
  var path: String {
    directory ?? Self.defaultDirectory(mode: mode, environment: ProcessInfo.processInfo.environment)
  }

  /// The default directory of a mode: below `XDG_CACHE_HOME` if that is absolute, else `~/.cache`.
  static func defaultDirectory(mode: CacheMode, environment: [String: String]) -> String {
    let base: String
    if let caches = environment["XDG_CACHE_HOME"], caches.hasPrefix("/") {
      base = caches
    } else {
      base = (environment["HOME"] ?? NSHomeDirectory()) + "/.cache"
    }
    return base + "/httpcache/" + (mode == .shared ? "shared" : "private")
  }

  /// Opens the store of a cache that is there; never makes one.
  ///
  /// - Throws: `ExitCode` after a message on standard error.
  func openStore() throws -> DiskStore {
    guard FileManager.default.fileExists(atPath: path + "/Cache.db") else {
      Console.report("httpcache: there is no cache in \(path)")
      throw ExitStatus.cacheUnavailable.code
    }
    do {
      // More than any disk, so that looking evicts nothing.
      let store = try DiskStore.open(
        directory: path, capacity: 1 << 50, minimumFreeSpace: 0, durability: .relaxed,
        verification: .firstRead, clock: SystemClock())
      for note in store.openingNotes { Console.report("httpcache: \(note)") }
      return store
    } catch {
      throw ExitStatus.reporting(error)
    }
  }
}
