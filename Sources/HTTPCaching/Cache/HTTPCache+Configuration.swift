public import HTTPCacheDisk
public import HTTPCacheSemantics
public import HTTPCacheStore

extension HTTPCache {
  /// Everything that is fixed when a cache is made.
  public struct Configuration: Sendable {
    /// Where the disk tier lives; nil is memory only.
    public var directory: String?
    /// Bytes of the memory tier; 0 switches it off.
    public var memoryCapacity: Int64
    /// Bytes of the disk tier. The capacity belongs to the directory: a value becomes that of the directory,
    /// for all processes that use it, and a lower one evicts what is too much, which the observer is told as
    /// `.capacityChanged`. nil leaves the capacity that the directory has; a new one has 1 GiB.
    public var diskCapacity: Int64?
    /// The longest body that is stored, in bytes or as a share of the capacity of the tier; an eighth
    /// unless told otherwise.
    public var largestEntry: LargestEntry
    /// Bytes that the disk tier leaves free on its file system, at most a quarter of it: with less, it evicts
    /// instead of filling the disk, and does not store what does not fit. 0 disables the check. The number
    /// belongs to the directory, as the capacity does. nil leaves the number that the directory has; a new
    /// one has 128 MiB.
    public var minimumFreeDiskSpace: Int64?
    /// The choices that RFC 9111 leaves open.
    public var rules: CacheRules
    /// The name in `Cache-Status` (RFC 9211 §2); nil adds no such field.
    public var cacheStatusName: String?
    /// Whether `Cache-Status` shows the cache key (RFC 9211 §2.7). Default false: the target may tell
    /// secrets, and a key helps whoever wants to poison the cache (§6).
    public var cacheStatusShowsKey: Bool
    /// How hard a commit is pressed to disk.
    public var durability: Durability
    /// When stored blocks are checked.
    public var verification: Verification
    /// How the directory is encrypted; nil stores in the clear. See `CacheEncryption`.
    public var encryption: CacheEncryption?
    /// Has the last word on what is stored; nil stores as proposed.
    public var willStore: StoringHook?
    /// Says whether there is any connection; nil takes it that there is.
    public var connectivity: (any ConnectivitySignal)?
    /// Is told what happens.
    public var observer: (any CacheObserver)?
    /// The time.
    public var clock: any CacheClock
    /// Runs the tasks that the engine starts on its own: transfers, background work, hooks. nil is Swift's
    /// own executor. A task of this kind does not inherit its caller's executor.
    package var executor: (any TaskExecutor)?

    /// Makes a configuration: 32 MiB of memory, what the directory has of disk (1 GiB if it is new), private.
    public init(
      directory: String? = nil, memoryCapacity: Int64 = 32 << 20, diskCapacity: Int64? = nil,
      largestEntry: LargestEntry = .default,
      minimumFreeDiskSpace: Int64? = nil, rules: CacheRules = CacheRules(),
      cacheStatusName: String? = nil, cacheStatusShowsKey: Bool = false,
      durability: Durability = .relaxed,
      verification: Verification = .firstRead, encryption: CacheEncryption? = nil,
      willStore: StoringHook? = nil,
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
      self.durability = durability
      self.verification = verification
      self.encryption = encryption
      self.willStore = willStore
      self.connectivity = connectivity
      self.observer = observer
      self.clock = clock
    }
  }
}
