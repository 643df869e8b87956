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

  @OptionGroup var encryptionKey: EncryptionKeyOption

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

  /// The store of a cache.
  struct Store {
    /// As it lies on disk.
    let disk: DiskStore
    /// The same, opened with a key; nil where none is given.
    let sealed: SealedStore?

    /// What is looked at.
    var readable: any CacheStore { sealed ?? disk }
  }

  /// Opens the store of a cache that is there; never makes one.
  ///
  /// - Throws: `ExitCode` after a message on standard error.
  func openStore() throws -> any CacheStore { try openStores().readable }

  /// Opens the store of a cache that is there, and says if it holds what is encrypted with another key.
  ///
  /// - Throws: `ExitCode` after a message on standard error.
  func openStores() throws -> Store {
    let encryption = try encryptionKey.encryption()
    let disk = try openDisk()
    do {
      let cipher = try encryption?.cipher(secret: disk.secret)
      let others = try disk.countSealed(except: cipher)
      if others > 0 { Console.report("httpcache: \(EncryptionNotice.otherKey(responses: others))") }
      return Store(disk: disk, sealed: cipher.map { SealedStore(base: disk, cipher: $0) })
    } catch {
      throw ExitStatus.reporting(error)
    }
  }

  private func openDisk() throws -> DiskStore {
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
