public import HTTPCacheDisk
import HTTPCacheSealing
public import HTTPCacheSemantics
public import HTTPCacheStore

extension HTTPCache {
  /// The settings that are fixed when a cache is made.
  public struct Configuration: Sendable {
    /// The directory of the store on disk; nil for a cache in memory only.
    public var directory: String?
    /// Capacity of the memory tier in bytes; 0 switches it off.
    public var memoryCapacity: Int64
    /// Capacity of the store on disk in bytes. It belongs to the directory: a value becomes that of the directory,
    /// for all processes that use it, and a lower one evicts what is too much, which the observer is told as
    /// `.capacityChanged`. nil leaves the capacity that the directory has; a new one has 1 GiB.
    public var diskCapacity: Int64?
    /// The longest body that is stored, in bytes or as a share of the capacity on disk or in memory. By default
    /// half the capacity on disk, and an eighth of that in memory.
    public var largestEntry: LargestEntry
    /// Bytes that the store on disk leaves free on its file system, at most a quarter of it: with less, it evicts
    /// instead of filling the disk, and does not store what does not fit. 0 disables the check. The number
    /// belongs to the directory, as the capacity does. nil leaves the number that the directory has; a new
    /// one has 128 MiB.
    public var minimumFreeDiskSpace: Int64?
    /// The choices that RFC 9111 leaves open.
    public var rules: CacheRules
    /// The name in `Cache-Status` (RFC 9211 §2); nil adds no such field.
    public var cacheStatusName: String?
    /// Whether `Cache-Status` shows the cache key (RFC 9211 §2.7). Default false: the target may contain
    /// secrets, and the key helps an attacker to poison the cache (§6).
    public var cacheStatusShowsKey: Bool
    /// Whether a commit waits until its data is on the disk.
    public var durability = Durability.relaxed
    /// When stored blocks are checked against their checksums.
    public var verification = Verification.firstRead
    /// How the directory is encrypted; nil stores plain text. See `CacheEncryption`.
    public var encryption: CacheEncryption?
    /// Responses that ship with the program, such as `FolderSeed`s. They answer while the store has no newer
    /// response; the first source that has a target answers. See `SeedLayer`.
    public var seeds: [any SeedSource]
    /// A tier on the network that several nodes share: they keep responses for each other, and make each other's
    /// changes. nil for a cache of its own. See `HTTPCache.join(within:)`. Each cache needs a tier object of its own.
    public var shared: (any SharedTier)?
    /// How the cache takes part in the fleet of the tier.
    public var fleet = FleetOptions()
    /// Decides last whether and how a response is stored; nil stores each response as proposed.
    public var willStore: StoringHook?
    /// Reports whether there is a network connection; nil assumes that there is one.
    public var connectivity: (any ConnectivitySignal)?
    /// Receives the cache's events.
    public var observer: (any CacheObserver)?
    /// The source of the time.
    public var clock: any CacheClock
    /// Runs the tasks that the engine starts: transfers, background work, hooks. nil is Swift's default
    /// executor. Such a task does not inherit its caller's executor (SE-0417). It must not run a job before `enqueue`
    /// returns: the thread that makes a job runnable may hold a lock, or be cancelling the job's task.
    public var executor: (any TaskExecutor)?

    /// Makes a configuration: 32 MiB of memory, what the directory has of disk (1 GiB if it is new), private.
    public init(
      directory: String? = nil, memoryCapacity: Int64 = 32 << 20, diskCapacity: Int64? = nil,
      largestEntry: LargestEntry = .default,
      minimumFreeDiskSpace: Int64? = nil, rules: CacheRules = CacheRules(),
      cacheStatusName: String? = nil, cacheStatusShowsKey: Bool = false,
      encryption: CacheEncryption? = nil,
      seeds: [any SeedSource] = [], willStore: StoringHook? = nil,
      connectivity: (any ConnectivitySignal)? = nil, observer: (any CacheObserver)? = nil,
      clock: any CacheClock = SystemClock()
    ) {
      self.directory = directory
      self.memoryCapacity = memoryCapacity
      self.diskCapacity = diskCapacity
      self.largestEntry = largestEntry
      self.minimumFreeDiskSpace = minimumFreeDiskSpace
      self.rules = rules
      self.cacheStatusName = cacheStatusName
      self.cacheStatusShowsKey = cacheStatusShowsKey
      self.encryption = encryption
      self.seeds = seeds
      self.willStore = willStore
      self.connectivity = connectivity
      self.observer = observer
      self.clock = clock
    }
  }
}

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
  ///   - diskCapacity: bytes of the store on disk, which becomes the capacity of the directory; nil leaves the
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

extension HTTPCache.Configuration {
  /// Checks that each property has a value that it can have. `HTTPCache.open` does so.
  ///
  /// - Throws: `CacheError` with `invalidValue`, which names the property and the value.
  public func check() throws(CacheError) {
    let sizes = [
      ("memoryCapacity", memoryCapacity), ("diskCapacity", diskCapacity ?? 0),
      ("minimumFreeDiskSpace", minimumFreeDiskSpace ?? 0),
    ]
    for (name, size) in sizes where size < 0 {
      throw CacheError(.invalidValue, "\(name) must not be negative (got \(size) bytes)")
    }
    switch largestEntry {
    case .bytes(let bytes) where bytes < 0:
      throw CacheError(.invalidValue, "largestEntry must not be negative (got \(bytes) bytes)")
    case .share(let share) where !(0...1).contains(share):
      throw CacheError(.invalidValue, "largestEntry must be a share from 0 to 1 (got \(share))")
    case .bytes, .share, .default: break
    }
    if let problem = rules.problem { throw CacheError(.invalidValue, "rules: \(problem)") }
  }
}

/// The store that a configuration asks for.
extension HTTPCache.Configuration {
  /// Opens the store: memory over disk, encrypted if configured. As `HTTPCache.open(_:fallsBackToMemory:)`.
  ///
  /// - Returns: the store, and whether it keeps its entries in the directory.
  func openStore(
    fallsBackToMemory: Bool
  ) throws(CacheError) -> (store: any CacheStore, usesDirectory: Bool) {
    let memory = MemoryStore(capacity: memoryCapacity, largestEntry: largestEntry, clock: clock)
    guard let directory else { return (memory, false) }
    try? FileHandout.sweep(in: directory)
    let disk: DiskStore
    do throws(CacheError) {
      disk = try DiskStore.open(
        directory: directory, capacity: diskCapacity,
        largestEntry: largestEntryOnDisk,
        minimumFreeSpace: minimumFreeDiskSpace,
        options: DiskStore.Options(
          durability: durability, verification: verification),
        clock: clock)
    } catch {
      if error.code == .newerFormat || !fallsBackToMemory { throw error }
      observer?.observe(.storeFailed(operation: "open", error))
      return (memory, false)
    }
    for note in disk.openingNotes {
      observer?.observe(
        .storeFailed(operation: "open", CacheError(.damaged, note)))
    }
    if let previous = disk.previousCapacity {
      // Not the capacity in `usage`, which may be read just before the index thread writes the new one.
      let capacity = max(0, diskCapacity ?? disk.usage.diskCapacity)
      observer?.observe(
        .capacityChanged(from: previous, to: capacity, usage: disk.previousUsage))
    }
    if let note = disk.noRoomNote {
      observer?.observe(
        .storeFailed(operation: "open", CacheError(.noSpace, note)))
    }
    let cipher = try encryption?.cipher(secret: disk.secret)
    let base: any CacheStore
    do throws(CacheError) { base = try prepare(disk, cipher) } catch {
      if !fallsBackToMemory { throw error }
      observer?.observe(.storeFailed(operation: "open", error))
      return (memory, false)
    }
    guard memoryCapacity > 0, disk.sharesGenerations else { return (base, true) }
    let tiered = TieredStore(memory: memory, base: base) { [observer] operation, error in
      observer?.observe(.storeFailed(operation: operation, error))
    }
    return (tiered, true)
  }

  /// The limit of an entry on disk, after encryption, which makes it longer. Entries that are too long before
  /// encryption are refused earlier.
  private var largestEntryOnDisk: LargestEntry {
    guard encryption != nil, let bytes = largestEntryInBytes else { return largestEntry }
    return .bytes(SealedStore.longestSealed(of: bytes))
  }

  /// The limit in bytes; nil for a share, which the store on disk computes.
  private var largestEntryInBytes: Int64? {
    if case .bytes(let bytes) = largestEntry { bytes } else { nil }
  }

  /// Prepares a store on disk for use: encrypted if there is a cipher.
  ///
  /// - Throws: `CacheError`; the directory must then not be used.
  private func prepare(
    _ disk: DiskStore, _ cipher: (any CacheCipher)?
  ) throws(CacheError) -> any CacheStore {
    guard var cipher else {
      // The cache works without either of these steps: their errors do not close the directory.
      do throws(CacheError) {
        tellSealed(try disk.countSealed())
        try disk.mayStorePlain()
      } catch {
        observer?.observe(.storeFailed(operation: "look for what is sealed", error))
      }
      return disk
    }
    let secret = disk.secret
    let removed = try disk.removePlain()
    // A damaged index may just have been replaced; the new index has a new secret.
    if disk.secret != secret, let encryption { cipher = try encryption.cipher(secret: disk.secret) }
    if removed > 0 {
      observer?.observe(.encryption(.removedPlain(responses: removed)))
    }
    tellSealed(try disk.countSealed(exceptKey: cipher.keyID))
    return try SealedStore(
      base: disk, cipher: cipher, largestEntry: largestEntryInBytes, executor: executor
    ) { [observer] error in
      observer?.observe(.storeFailed(operation: "open what is sealed", error))
    }
  }

  private func tellSealed(_ count: Int) {
    if count > 0 { observer?.observe(.encryption(.otherKey(responses: count))) }
  }

  // MARK: Seeds

  /// The store with the seeds below it; the store itself without seeds.
  func seeded(_ store: any CacheStore) -> any CacheStore {
    guard !seeds.isEmpty else { return store }
    return SeedLayer(
      base: store, seeds: seeds, mode: rules.mode,
      marksPath: directory.flatMap { $0.isEmpty ? nil : "\($0)/Seeds.marks" }, clock: clock
    ) { [observer] operation, error in
      observer?.observe(.storeFailed(operation: operation, error))
    }
  }
}
