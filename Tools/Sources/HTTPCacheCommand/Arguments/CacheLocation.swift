import ArgumentParser
import Foundation
import HTTPCacheSealing
import HTTPCacheStore
import HTTPCaching

/// The cache on disk that a command works on.
struct CacheLocation: ParsableArguments {
  /// `--shared` and `--private`.
  enum ModeFlag: String, EnumerableFlag {
    case shared
    case `private`

    static func help(for value: ModeFlag) -> ArgumentHelp? {
      value == .shared
        ? "The shared cache, which serves many users (the default of serve)."
        : "The private cache of this user (the default of all other commands)."
    }
  }

  @Option(name: .customLong("dir"), help: "The directory of the cache (default: the user's).")
  var directory: String?

  @Flag var modeFlag: ModeFlag?

  @OptionGroup var encryptionKey: EncryptionKeyOption

  func validate() throws {
    if directory?.isEmpty == true { throw ValidationError("--dir requires a directory (got nothing)") }
  }

  /// Private or shared (RFC 9111 §1).
  var mode: CacheMode { modeFlag == .shared ? .shared : .private }

  /// The mode to filter entries by; nil, for all entries, with `--dir` and no mode.
  var listedMode: CacheMode? { directory != nil && modeFlag == nil ? nil : mode }

  /// The directory of `--dir`, else the default directory of the mode.
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

  /// Opens the cache, or makes a new one; one that stores nothing if the directory has other files.
  ///
  /// - Parameter adjust: changes the configuration before.
  /// - Throws: `ExitCode` after a message on standard error, and what `adjust` throws.
  func openCache(
    _ adjust: (inout HTTPCache.Configuration) throws -> Void = { _ in }
  ) throws -> HTTPCache {
    // No memory tier: the process ends before the tier could answer a request.
    var configuration = HTTPCache.Configuration(
      directory: path, memoryCapacity: 0, largestEntry: .share(0.5), rules: CacheRules(mode: mode),
      encryption: try encryptionKey.encryption())
    try adjust(&configuration)
    if let objection = UsableDirectory.objection(to: path) {
      Console.report("httpcache: \(objection); responses are not stored")
      configuration.directory = nil
    }
    do {
      return try HTTPCache.open(configuration)
    } catch {
      throw ExitStatus.reporting(error)
    }
  }

  /// The store of a cache.
  struct Store {
    /// The store on disk.
    let disk: DiskStore
    /// The store on disk, opened with the key; nil if no key is given.
    let sealed: SealedStore?
    /// Number of responses that the given key (or no key) cannot open; 10,000 at most.
    let others: Int
    /// Number of unencrypted responses if a key is given; 10,000 at most.
    let plain: Int

    /// The store that a command works on: the opened one if there is a key, else the one on disk.
    var usable: any CacheStore { sealed ?? disk }
  }

  /// Opens the store of an existing cache; never makes a new one.
  ///
  /// - Throws: `ExitCode` after a message on standard error.
  func openStore() throws -> any CacheStore { try openStores().usable }

  /// Opens the store of an existing cache, and reports responses that the key cannot open, or that are not
  /// encrypted though a key is given.
  ///
  /// - Throws: `ExitCode` after a message on standard error.
  func openStores() throws -> Store {
    let encryption = try encryptionKey.encryption()
    let disk = try openDisk()
    do {
      let cipher = try encryption?.cipher(secret: disk.secret)
      let sealed = try cipher.map { (cipher) throws(CacheError) in
        try SealedStore(base: disk, cipher: cipher)
      }
      let store = Store(
        disk: disk, sealed: sealed, others: try disk.countSealed(exceptKey: cipher?.keyID),
        plain: try cipher == nil ? 0 : disk.countPlain())
      if store.others > 0 {
        let hint = cipher == nil ? "; --encryption-key-file says where the key is" : ""
        Console.report("httpcache: \(EncryptionNotice.otherKey(responses: store.others))\(hint)")
      }
      if store.plain > 0 {
        Console.report(
          "httpcache: \(Self.text(store.plain)) not encrypted; no command with a key uses them, and get and "
            + "serve with a key remove them")
      }
      return store
    } catch {
      throw ExitStatus.reporting(error)
    }
  }

  private static func text(_ count: Int) -> String {
    "\(HumanText.count(count, "response")) in the directory \(count == 1 ? "is" : "are")"
  }

  /// Opens the store of an existing cache; it evicts nothing.
  ///
  /// - Throws: `ExitCode` after a message on standard error.
  func openDisk() throws -> DiskStore {
    guard FileManager.default.fileExists(atPath: path + "/Cache.db") else {
      let other = otherPlace.map { "; there is a \($0.mode) cache in \($0.path) (\($0.option))" }
      Console.report("httpcache: there is no cache in \(path)\(other ?? "")")
      throw ExitStatus.cacheUnavailable.code
    }
    do {
      let store = try DiskStore.open(
        directory: path, options: DiskStore.Options(evicts: false), clock: SystemClock())
      for note in store.openingNotes { Console.report("httpcache: \(note)") }
      return store
    } catch {
      throw ExitStatus.reporting(error)
    }
  }
}

/// Finds responses in the user's other cache, to remind a user of a forgotten `--shared` or `--private`.
extension CacheLocation {
  /// A cache other than the one of the command.
  struct OtherPlace {
    let path: String
    let mode: CacheMode
    /// The option that selects that cache, such as `--shared`.
    var option: String { "--\(mode)" }
  }

  /// The other of the user's two caches; nil if it does not exist, or with `--dir`.
  var otherPlace: OtherPlace? {
    guard directory == nil else { return nil }
    let mode: CacheMode = mode == .shared ? .private : .shared
    let path = Self.defaultDirectory(mode: mode, environment: ProcessInfo.processInfo.environment)
    guard FileManager.default.fileExists(atPath: path + "/Cache.db") else { return nil }
    return OtherPlace(path: path, mode: mode)
  }

  /// Says that matching responses are in the user's other cache, or in this directory under the other mode
  /// (private or shared). nil if there are none.
  ///
  /// - Parameter store: the store of this location.
  func hint(for selection: CacheSelection, in store: some CacheStore) async -> String? {
    if directory != nil, modeFlag != nil {
      let other: CacheMode = mode == .shared ? .private : .shared
      guard await Self.holds(selection, of: other, store) else { return nil }
      return "the directory has it as a \(other) cache (--\(other))"
    }
    guard let place = otherPlace,
      let store = try? DiskStore.open(directory: place.path, options: DiskStore.Options(evicts: false)),
      await Self.holds(selection, of: place.mode, store)
    else { return nil }
    return "the \(place.mode) cache in \(place.path) has it (\(place.option))"
  }

  /// The modes (private, shared) of the matching responses in a store.
  static func modes(of selection: CacheSelection, in store: some CacheStore) async -> [CacheMode] {
    var modes: [CacheMode] = []
    for mode in CacheMode.allCases where await holds(selection, of: mode, store) { modes.append(mode) }
    return modes
  }

  private static func holds(
    _ selection: CacheSelection, of mode: CacheMode, _ store: some CacheStore
  ) async -> Bool {
    var cursor: EntryCursor?
    repeat {
      guard let page = try? await store.entries(selection, after: cursor, limit: 500) else { return false }
      if page.entries.contains(where: { $0.record.key.mode == mode }) { return true }
      cursor = page.next
    } while cursor != nil
    return false
  }
}
