import HTTPCacheFiles
public import HTTPCacheStore
import Synchronization

/// Whether commits are synced to disk.
public enum Durability: Sendable, Hashable {
  /// No fsync. Recent responses may be missing after a power loss; checksums detect torn writes.
  case relaxed
  /// Files and directories are synced before a response counts as stored.
  case durable
}

/// When the checksums of stored blocks are checked.
public enum Verification: Sendable, Hashable {
  /// On a block's first read after the body was opened.
  case firstRead
  /// On every read.
  case everyRead
}

/// A store in a directory: an index in SQLite and a body file for each larger body. Several processes may
/// have one directory open.
///
/// Whenever a process ends, an entry is complete, a part that can be completed, or not stored. A damaged entry is a
/// miss and is removed. `docs/disk-format.md` describes the directory.
public final class DiskStore: Sendable {
  /// The choices of a store that programs rarely change. Each process has options of its own.
  public struct Options: Sendable, Hashable {
    /// Whether a commit is synced to disk.
    public var durability: Durability
    /// When checksums of stored blocks are checked.
    public var verification: Verification
    /// Whether the store evicts entries. With false, opening evicts nothing, for a program that only reads.
    public var evicts: Bool

    /// Makes options.
    public init(
      durability: Durability = .relaxed, verification: Verification = .firstRead, evicts: Bool = true
    ) {
      self.durability = durability
      self.verification = verification
      self.evicts = evicts
    }
  }

  /// The default minimum of free bytes on the file system: 128 MiB.
  public static let defaultMinimumFreeSpace: Int64 = 128 << 20

  /// The path of the directory as the caller gave it.
  public let directory: String
  let options: Options
  let limits: DiskLimits
  let thread: IndexThread
  let batch: ChangeBatch
  let reader: EntryReader
  let inserter: Inserter
  let updater: Updater
  let changer: Changer
  let evictor: Evictor
  let trimmer: Trimmer
  let recentRecords = RecentRecords()
  private let policy: DiskEvictionPolicy
  let sweeper: Sweeper
  private let verifier: Verifier
  private let plainContent: PlainContent
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
    clock: any CacheClock, look: (@Sendable (_ descriptor: Int32) -> FreeSpace.Space?)? = nil
  ) throws(CacheError) -> DiskStore {
    let path = DirectoryPath.absolute(directory)
    let freeSpace = FreeSpace(minimum: 0, look: look, uptime: { clock.uptime })
    let opened = try OpenDirectory.open(
      path: path, durability: options.durability, settings: DirectorySettings().changed(by: changes),
      freeSpace: freeSpace)
    if options.evicts { freeSpace.setMinimum(opened.settings.changed(by: changes).minimumFreeSpace) }
    let limits = DiskLimits(largestEntry: largestEntry, settings: opened.settings, changes: changes)
    let thread = IndexThread(path: path, options: options, limits: limits, opened: opened)
    // Before eviction begins.
    let usage =
      changes.capacity == nil
      ? nil
      : try? thread.read(opened) { (connection) throws(CacheError) in
        try limits.usage(of: opened, on: connection)
      }
    let store = DiskStore(
      directory: directory, options: options, limits: limits, thread: thread,
      previousUsage: usage?.total ?? 0, clock: clock)
    thread.whenOpened { [weak store] opened, older in store?.didOpen(opened, insteadOf: older) }
    return store
  }

  private init(
    directory: String, options: Options, limits: DiskLimits, thread: IndexThread, previousUsage: Int64,
    clock: any CacheClock
  ) {
    self.directory = directory
    self.previousUsage = previousUsage
    self.options = options
    self.limits = limits
    self.thread = thread
    let opened = thread.currentDirectory
    previousCapacity = limits.changes.capacity == nil ? nil : opened.settings.capacity
    policy = DiskEvictionPolicy(inflation: opened.lowestPriority)
    batch = ChangeBatch(thread: thread, policy: policy)
    evictor = Evictor(thread: thread, batch: batch, policy: policy, limits: limits)
    trimmer = Trimmer(thread: thread, batch: batch, evictor: evictor, limits: limits, clock: clock)
    inserter = Inserter(
      thread: thread, batch: batch, policy: policy, limits: limits, evictor: evictor, trimmer: trimmer,
      clock: clock)
    updater = Updater(thread: thread, trimmer: trimmer)
    sweeper = Sweeper(thread: thread)
    changer = Changer(
      thread: thread, batch: batch, sweeper: sweeper, recentRecords: recentRecords, clock: clock)
    reader = EntryReader(
      thread: thread, batch: batch, policy: policy, changer: changer, recentRecords: recentRecords,
      verification: options.verification, clock: clock)
    verifier = Verifier(thread: thread, batch: batch, sweeper: sweeper, reader: reader)
    plainContent = PlainContent(
      directory: directory, thread: thread, sweeper: sweeper, policy: policy, clock: clock)
  }

  /// Starts the background work for a directory that was opened.
  private func didOpen(_ opened: OpenDirectory, insteadOf older: OpenDirectory?) {
    // Forget uses of keys: a new index has another secret, so the hashes of keys differ.
    if let older, older.secret != opened.secret {
      policy.forgetUses()
      batch.forgetUses()
    }
    opened.setLogLength(capacity: limits.capacity)
    sweeper.queue.submit { [weak self] in
      guard let self else { return }
      changer.applyPendingEpochs()
      sweeper.sweep(opened)
    }
    reader.fileQueue.submit { opened.directory.excludeFromBackups() }
    thread.queue.submit { [weak self] in if self != nil { try? opened.shortenIfEmpty() } }
    if options.evicts { trimmer.trimInBackground() }
  }

  // MARK: The directory

  /// The capacity of the directory before this store changed it; nil if opening the store did not change it.
  public let previousCapacity: Int64?

  /// The bytes that were in use before this store changed the capacity and began to evict; 0 if it did not change it.
  public let previousUsage: Int64

  /// Messages about opening the directory, for example that a damaged index was set aside. Empty if there
  /// were no problems.
  public var openingNotes: [String] { thread.currentDirectory.notes }

  /// A message if the capacity is less than an index with one entry takes; otherwise nil.
  public var noRoomNote: String? { limits.noRoomNote(in: thread.currentDirectory) }

  /// As `noRoomNote`, for a capacity that the directory does not have yet.
  public func noRoomNote(capacity: Int64) -> String? {
    limits.noRoomNote(in: thread.currentDirectory, capacity: capacity)
  }

  /// Whether `generation(of:)` shows changes by other processes. If not, as on a network file system, the
  /// generation rises with each call, and no store above this one can keep entries in memory.
  public var sharesGenerations: Bool { thread.currentDirectory.generations.isShared }

  /// The settings that the directory has now; another process may have changed them.
  public func settings() throws(CacheError) -> DirectorySettings {
    try thread.read(try thread.directoryToRead(), DirectorySettings.init).changed(by: limits.changes)
  }

  /// Changes the minimum of free space on the file system, and evicts entries if less is free. Other
  /// processes that have the directory open use the new minimum when they open it next.
  ///
  /// - Parameter bytes: 0 disables the check.
  public func setMinimumFreeSpace(_ bytes: Int64) async throws(CacheError) {
    try await trimmer.change(DirectorySettings.Changes(minimumFreeSpace: max(0, bytes)))
  }

  // MARK: Usage

  /// The usage of the directory by kind.
  ///
  /// - Complexity: O(1).
  public func diskUsage() throws(CacheError) -> DiskUsage { try usage(of: try thread.directoryToRead()) }

  private func usage(of opened: OpenDirectory) throws(CacheError) -> DiskUsage {
    try thread.read(opened) { (connection) throws(CacheError) in
      try limits.usage(of: opened, on: connection)
    }
  }

  /// Bytes and entries in use: index, log, counters, bodies, and bodies that this store is writing.
  public var usage: StoreUsage {
    guard let now = try? usage(of: thread.currentDirectory) else {
      var last = lastUsage.withLock { $0 }
      last.diskCapacity = limits.capacity
      return last
    }
    let usage = StoreUsage(diskBytes: now.total, diskCapacity: now.capacity, diskEntries: now.entries)
    lastUsage.withLock { $0 = usage }
    return usage
  }

  // MARK: Checking

  /// Reads and checks everything: each record decodes, each body exists and has its length and checksums, each
  /// body file belongs to an entry, and the usage is correct. Other processes may read and write meanwhile.
  ///
  /// - Parameter repair: deletes damaged entries and files without an entry, and counts the usage again. A
  ///   damaged index is set aside and a new one started.
  /// - Throws: `CacheError` if the check cannot continue. Damage is a finding, not an error.
  public func verify(repair: Bool) async throws(CacheError) -> VerificationReport {
    try await verifier.verify(repair: repair)
  }

  // MARK: Sealed and plain responses

  /// The number of sealed responses in the directory (`SealedStore`), at most 10,000.
  ///
  /// - Parameter keyID: responses that were sealed with the key of this id (`CacheCipher.keyID`) do not count.
  public func countSealed(exceptKey keyID: [UInt8]? = nil) throws(CacheError) -> Int {
    try plainContent.countSealed(exceptKey: keyID)
  }

  /// The number of responses in the directory that are in the clear, at most 10,000.
  public func countPlain() throws(CacheError) -> Int { try plainContent.count() }

  /// Removes everything in the directory that is not encrypted (`PlainContent.remove`). On the calling thread.
  ///
  /// - Returns: the number of responses in the clear, at most 10,000.
  /// - Throws: `CacheError`; `CacheError.busy` if another process reads the index, so that its log may still
  ///   have bytes in the clear.
  package func removePlain() throws(CacheError) -> Int { try plainContent.remove() }

  /// Notes that from now on responses may be stored in the clear. On the calling thread.
  package func mayStorePlain() throws(CacheError) { try plainContent.mayStore() }
}
