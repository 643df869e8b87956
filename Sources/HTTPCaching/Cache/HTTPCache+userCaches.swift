public import HTTPCacheSemantics
public import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension HTTPCache.Configuration {
  /// A configuration for a cache in the user's folder for caches.
  ///
  /// ```swift
  /// let cache = try HTTPCache.open(.userCaches("com.example.app"))
  /// ```
  ///
  /// That folder is `$XDG_CACHE_HOME` or `~/.cache`; on Apple's systems it is `~/Library/Caches`, which is not
  /// backed up. The cache's folder is inside it, in a folder called `name`; a private and a shared cache with
  /// the same name have separate folders. For a user without a home directory the cache is in memory, and the
  /// observer is told.
  ///
  /// - Parameters:
  ///   - name: the name of the app, such as its bundle identifier. Characters other than letters, digits, `.`,
  ///     `-` and `_` become `_`.
  ///   - memoryCapacity: bytes of the memory tier.
  ///   - diskCapacity: bytes of the disk tier, which becomes the capacity of the directory; nil leaves the
  ///     capacity that the directory has (1 GiB for a new one).
  ///   - largestEntry: the longest body that is stored; see `largestEntry` of the configuration.
  ///   - rules: the choices that RFC 9111 leaves open.
  ///   - encryption: how the folder is encrypted; nil stores plain text.
  ///   - seeds: responses that ship with the program.
  ///   - willStore: decides last whether and how a response is stored; nil stores each response as proposed.
  ///   - observer: receives the cache's events.
  public static func userCaches(
    _ name: String, memoryCapacity: Int64 = 32 << 20, diskCapacity: Int64? = nil,
    largestEntry: LargestEntry = .default, rules: CacheRules = CacheRules(),
    encryption: CacheEncryption? = nil, seeds: [any SeedSource] = [], willStore: StoringHook? = nil,
    observer: (any CacheObserver)? = nil
  ) -> HTTPCache.Configuration {
    let folder = rules.mode == .shared ? "HTTPCache-shared" : "HTTPCache"
    let directory = UserFolder.caches.map { "\($0)/\(UserFolder.component(name))/\(folder)" }
    return HTTPCache.Configuration(
      // The empty path cannot be opened: the observer is told when the cache is opened.
      directory: directory ?? "", memoryCapacity: memoryCapacity, diskCapacity: diskCapacity,
      largestEntry: largestEntry, rules: rules, encryption: encryption, seeds: seeds, willStore: willStore,
      observer: observer)
  }
}

/// Folders of the user that runs this process.
enum UserFolder {
  /// The folder for caches; nil for a user without a home directory.
  static var caches: String? {
    #if canImport(Darwin)
      return home.map { $0 + "/Library/Caches" }
    #else
      // A relative path must be ignored (XDG Base Directory Specification).
      if let folder = variable("XDG_CACHE_HOME"), folder.hasPrefix("/") { return folder }
      return home.map { $0 + "/.cache" }
    #endif
  }

  /// Makes one path component of any text.
  static func component(_ text: String) -> String {
    let allowed = text.utf8.map { octet -> UInt8 in
      switch octet {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        octet
      default: UInt8(ascii: "_")
      }
    }
    let name = String(decoding: allowed.prefix(200), as: UTF8.self)
    return name.isEmpty || name.hasPrefix(".") ? "_" + name : name
  }

  private static var home: String? {
    if let folder = variable("HOME"), folder.hasPrefix("/") { return folder }
    guard let entry = getpwuid(getuid()), let folder = entry.pointee.pw_dir else { return nil }
    let path = String(cString: folder)
    return path.hasPrefix("/") ? path : nil
  }

  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    let text = String(cString: value)
    return text.isEmpty ? nil : text
  }
}
