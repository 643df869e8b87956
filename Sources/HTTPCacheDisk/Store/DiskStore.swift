import HTTPCacheFiles
public import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

/// A store in a directory: an index in SQLite and a body file for each larger body. Several processes may
/// have one directory open.
///
/// An entry is either complete or not stored, whenever a process ends. A damaged entry is a miss and is
/// removed. `docs/disk-format.md` describes the directory.
public final class DiskStore: CacheStore, GenerationSource, TierBase {
  struct Limits: Sendable {
    /// The capacity of the directory, as this store knows it.
    var capacity: Int64
    var largestEntry: LargestEntry
    /// Changed settings that are not in the index yet.
    var changes: DirectorySettings.Changes

    /// The longest body in bytes.
    var longestBody: Int64 { largestEntry.bytes(of: capacity) }

    mutating func change(_ new: DirectorySettings.Changes) {
      capacity = new.capacity ?? capacity
      changes.capacity = new.capacity ?? changes.capacity
      changes.minimumFreeSpace = new.minimumFreeSpace ?? changes.minimumFreeSpace
    }

    /// Forgets changes that were saved, unless newer changes have replaced them.
    mutating func saved(_ old: DirectorySettings.Changes) {
      if changes.capacity == old.capacity { changes.capacity = nil }
      if changes.minimumFreeSpace == old.minimumFreeSpace { changes.minimumFreeSpace = nil }
    }
  }

  /// The default minimum of free bytes on the file system: 128 MiB.
  public static let defaultMinimumFreeSpace: Int64 = 128 << 20

  /// The path of the directory as the caller gave it.
  public let directory: String
  /// The absolute path.
  let path: String
  let options: Options
  let clock: any CacheClock

  // One thread writes to the index, so that waiting writers hold no threads.
  let indexQueue = WorkQueue(threads: 1)
  let fileQueue = WorkQueue(threads: 3)
  // For sweeps and checks, which take long. One thread, because a sweep holds the locks of dead owners, which look
  // alive to another sweep.
  let sweepQueue = WorkQueue(threads: 1)
  let waitingInsertions = Mutex<[WaitingInsertion]>([])
  let policy: DiskEvictionPolicy
  let batch = ChangeBatch()
  let checkedBodies: CheckedBodies
  let recentRecords = RecentRecords()
  let opened: Mutex<OpenDirectory>
  let limits: Mutex<Limits>
  let freeSpace: FreeSpace
  let isWorkingOff = Atomic<Bool>(false)
  let lastEpochAttempt = Atomic<Int64>(.min)
  private let lastUsage = Mutex(StoreUsage())

  /// Opens the store of a directory, and makes the directory if needed. The time does not depend on the
  /// number of entries: only the head of the index is read.
  ///
  /// - Parameters:
  ///   - directory: the path of the directory. The directory and its missing parents are made.
  ///   - capacity: the capacity of the directory in bytes, for all processes. Entries beyond it are evicted
  ///     in the background. nil leaves the capacity of the directory unchanged; a new directory has 1 GiB.
  ///   - largestEntry: the longest body to store; half the capacity by default.
  ///   - minimumFreeSpace: the minimum of free bytes on the file system, at most a quarter of it. If less is
  ///     free, entries are evicted, and new responses replace others or are not stored. 0 disables the check.
  ///     The value is stored in the directory. nil leaves the value of the directory unchanged; a new
  ///     directory has 128 MiB.
  ///   - options: whether commits are synced, when checksums are checked, and whether entries are evicted.
  ///   - clock: the time.
  /// - Throws: `CacheError.unavailable` if the directory cannot be made or written, `CacheError.newerFormat`
  ///   if a newer version made it, `CacheError.busy`, `CacheError.noSpace`.
  public static func open(
    directory: String, capacity: Int64? = nil, largestEntry: LargestEntry = .default,
    minimumFreeSpace: Int64? = nil, options: Options = Options(), clock: any CacheClock = SystemClock()
  ) throws(CacheError) -> DiskStore {
    try open(
      directory: directory,
      changes: DirectorySettings.Changes(
        capacity: capacity.map { max(0, $0) }, minimumFreeSpace: minimumFreeSpace.map { max(0, $0) }),
      largestEntry: largestEntry, options: options, clock: clock)
  }

  /// - Parameter look: returns the free bytes and all bytes of the file system, in place of the system.
  static func open(
    directory: String, changes: DirectorySettings.Changes, largestEntry: LargestEntry, options: Options,
    clock: any CacheClock, look: (@Sendable (OpenFile) -> FreeSpace.Space?)? = nil
  ) throws(CacheError) -> DiskStore {
    let path = DirectoryPath.absolute(directory)
    let opened = try OpenDirectory.open(
      path: path, durability: options.durability, settings: DirectorySettings().changed(by: changes))
    let settings = opened.settings.changed(by: changes)
    var limits = Limits(capacity: settings.capacity, largestEntry: largestEntry, changes: changes)
    if settings.capacity == opened.settings.capacity { limits.changes.capacity = nil }
    if settings.minimumFreeSpace == opened.settings.minimumFreeSpace { limits.changes.minimumFreeSpace = nil }
    let store = DiskStore(
      directory: directory, path: path, opened: opened, limits: limits,
      freeSpace: FreeSpace(minimum: options.evicts ? settings.minimumFreeSpace : 0, look: look, clock: clock),
      options: options, clock: clock)
    store.didOpen(opened)
    return store
  }

  private init(
    directory: String, path: String, opened: OpenDirectory, limits: Limits, freeSpace: FreeSpace,
    options: Options, clock: any CacheClock
  ) {
    self.options = options
    previousCapacity = limits.changes.capacity == nil ? nil : opened.settings.capacity
    self.freeSpace = freeSpace
    self.directory = directory
    self.path = path
    self.clock = clock
    checkedBodies = CheckedBodies(clock: clock)
    self.limits = Mutex(limits)
    self.opened = Mutex(opened)
    policy = DiskEvictionPolicy(inflation: opened.lowestPriority)
  }

  // MARK: What it is made of

  /// Drops recently read records. The store keeps nothing else in memory for long.
  public func trimMemory(to bytes: Int64) { recentRecords.removeAll() }

  var currentDirectory: OpenDirectory { opened.withLock { $0 } }

  var currentLimits: Limits { limits.withLock { $0 } }

  /// The capacity of the directory before this store changed it; nil if opening the store did not change it.
  public let previousCapacity: Int64?

  /// Messages about opening the directory, for example that a damaged index was set aside. Empty if there
  /// were no problems.
  public var openingNotes: [String] { currentDirectory.notes }

  /// A message if the capacity is less than the size of an empty index; otherwise nil.
  public var noRoomNote: String? { noRoom(in: currentDirectory) }

  /// Whether `generation(of:)` shows changes by other processes. If not, as on a network file system, the
  /// generation rises with each call, and no store above this one can keep entries in memory.
  public var sharesGenerations: Bool { currentDirectory.generations.isShared }

  /// A number that rises after each commit of any process that stores, replaces, freshens, invalidates or removes
  /// a response of a key. It may rise for other keys as well. Costs a hash of the key and two loads from memory.
  public func generation(of key: CacheKey) -> UInt64 { currentDirectory.generation(of: key) }

  /// The ticket of a request that is about to be sent.
  public func ticket() -> InvalidationTicket { currentDirectory.generations.ticket() }

  /// Whether any process invalidated or removed a selection that a response may match, after a ticket was
  /// taken. If memory is not shared (on a network file system), only invalidations by this store count.
  public func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    currentDirectory.generations.isOvertaken(key, groups: groups, since: ticket)
  }

  /// A random key of this directory (32 bytes).
  public var secret: [UInt8] { currentDirectory.secret }

  /// The path of the file that holds exactly the body of a stored response; nil if the body is inline or not
  /// complete, or if the response is no longer stored.
  ///
  /// - Throws: `CacheError`.
  public func bodyPath(of record: CacheRecord) throws(CacheError) -> String? {
    let opened = try directoryToRead()
    let (id, hash) = (Int64(bitPattern: record.sequence), opened.hashes.hash(of: record.key))
    let row = try reading(opened) { (connection) throws(CacheError) in
      try EntryRow.find("id = ? AND hash = ? AND partial = 0", [.integer(id), .hash(hash)], connection).first
    }
    return row?.file.map { opened.directory.bodyPath($0) }
  }

  // MARK: Usage

  /// Bytes and entries in use: index, log, counters, bodies, and bodies that this store is writing.
  public var usage: StoreUsage {
    guard let now = try? diskUsage(in: currentDirectory) else {
      var last = lastUsage.withLock { $0 }
      last.diskCapacity = currentLimits.capacity
      return last
    }
    let usage = StoreUsage(diskBytes: now.total, diskCapacity: now.capacity, diskEntries: now.entries)
    lastUsage.withLock { $0 = usage }
    return usage
  }
}
