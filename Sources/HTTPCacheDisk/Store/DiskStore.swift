public import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

/// A store in a directory: an index in SQLite and a file for each larger body. Several processes may
/// have one directory open.
///
/// What is written is complete or not there, whenever a process ends; what is damaged is a miss and is
/// removed. `docs/disk-format.md` describes the directory.
public final class DiskStore: CacheStore, GenerationSource, TierBase {
  struct Limits: Sendable {
    /// The capacity of the directory, as this store knows it.
    var capacity: Int64
    var largestEntry: LargestEntry
    /// Settings to change that the directory does not have yet.
    var changes: DirectorySettings.Changes

    /// The longest body in bytes.
    var longestBody: Int64 { largestEntry.bytes(of: capacity) }

    mutating func change(_ new: DirectorySettings.Changes) {
      capacity = new.capacity ?? capacity
      changes.capacity = new.capacity ?? changes.capacity
      changes.minimumFreeSpace = new.minimumFreeSpace ?? changes.minimumFreeSpace
    }

    /// Forgets changes that were saved, unless others have taken their place.
    mutating func saved(_ old: DirectorySettings.Changes) {
      if changes.capacity == old.capacity { changes.capacity = nil }
      if changes.minimumFreeSpace == old.minimumFreeSpace { changes.minimumFreeSpace = nil }
    }
  }

  /// What is kept free on the file system unless something else is said: 128 MiB.
  public static let defaultMinimumFreeSpace: Int64 = 128 << 20

  /// How much size counts against being kept (`EvictionPolicy.exponent`).
  static let evictionExponent = 0.5

  /// The directory as it was given.
  public let directory: String
  // Where it is, whatever the working directory becomes.
  private let path: String
  let durability: Durability
  let verification: Verification
  let clock: any CacheClock

  // Everything that writes to the index goes through one thread, so that writers wait for each other
  // without holding threads.
  let indexQueue = WorkQueue(threads: 1)
  let fileQueue = WorkQueue(threads: 3)
  let waitingInsertions = WaitingInsertions()
  let policy: Mutex<EvictionPolicy>
  let batch = Mutex(PendingChanges())
  let checkedBodies: CheckedBodies
  let recentRecords = RecentRecords()
  let opened: Mutex<OpenDirectory>
  let limits: Mutex<Limits>
  let freeSpace: FreeSpace
  /// Whether this store makes room; false for one that only looks.
  let evicts: Bool
  let isWorkingOff = Atomic<Bool>(false)
  let lastEpochAttempt = Atomic<Int64>(.min)
  let sweeps = Sweeps()
  private let lastUsage = Mutex(StoreUsage())

  /// Opens the store of a directory, and makes it first if there is none. Reads nothing but the
  /// index's head, however much is stored.
  ///
  /// - Parameters:
  ///   - directory: the path of the directory; it and what is missing above it are made.
  ///   - capacity: the most bytes to use on disk, which becomes the capacity of the directory, for all
  ///     processes; what is stored beyond it is evicted in the background. nil leaves the capacity that the
  ///     directory has; a new one has 1 GiB.
  ///   - largestEntry: the longest body to store.
  ///   - minimumFreeSpace: bytes to keep free on the file system, at most a quarter of it: with less,
  ///     responses are evicted, and new ones take the place of others or are not stored; 0 disables the
  ///     check. It becomes that of the directory. nil leaves what the directory has; a new one has 128 MiB.
  ///   - durability: how hard a commit is pressed to disk.
  ///   - verification: when checksums of stored blocks are checked.
  ///   - evicts: whether this store makes room; false for a program that only looks, whose opening then
  ///     evicts nothing.
  ///   - clock: the time.
  /// - Throws: `CacheError.unavailable` if there can be no such directory or it cannot be written,
  ///   `CacheError.newerFormat` if a newer version made it, `CacheError.busy`, `CacheError.noSpace`.
  public static func open(
    directory: String, capacity: Int64? = nil, largestEntry: LargestEntry = .default,
    minimumFreeSpace: Int64? = nil,
    durability: Durability = .relaxed, verification: Verification = .firstRead, evicts: Bool = true,
    clock: any CacheClock = SystemClock()
  ) throws(CacheError) -> DiskStore {
    try open(
      directory: directory,
      changes: DirectorySettings.Changes(
        capacity: capacity.map { max(0, $0) }, minimumFreeSpace: minimumFreeSpace.map { max(0, $0) }),
      largestEntry: largestEntry, durability: durability, verification: verification, evicts: evicts,
      clock: clock)
  }

  /// Opens a store as `open` does, with figures of the caller's for what is free.
  package static func open(
    directory: String, capacity: Int64, minimumFreeSpace: Int64,
    freeBytes: @escaping @Sendable () -> Int64?, clock: any CacheClock
  ) throws(CacheError) -> DiskStore {
    try open(
      directory: directory,
      changes: DirectorySettings.Changes(capacity: max(0, capacity), minimumFreeSpace: minimumFreeSpace),
      largestEntry: .default, durability: .relaxed, verification: .firstRead, evicts: true, clock: clock
    ) { _ in
      freeBytes().map { FreeSpace.Space(free: $0, all: 1 << 40) }
    }
  }

  private static func open(
    directory: String, changes: DirectorySettings.Changes, largestEntry: LargestEntry,
    durability: Durability, verification: Verification, evicts: Bool, clock: any CacheClock,
    look: (@Sendable (OpenFile) -> FreeSpace.Space?)? = nil
  ) throws(CacheError) -> DiskStore {
    let path = DirectoryPath.absolute(directory)
    let opened = try OpenDirectory.open(
      path: path, durability: durability, settings: DirectorySettings().changed(by: changes), clock: clock)
    let settings = opened.settings.changed(by: changes)
    var limits = Limits(capacity: settings.capacity, largestEntry: largestEntry, changes: changes)
    if settings.capacity == opened.settings.capacity { limits.changes.capacity = nil }
    if settings.minimumFreeSpace == opened.settings.minimumFreeSpace { limits.changes.minimumFreeSpace = nil }
    let store = DiskStore(
      directory: directory, path: path, opened: opened, limits: limits,
      freeSpace: FreeSpace(minimum: evicts ? settings.minimumFreeSpace : 0, look: look, clock: clock),
      durability: durability, verification: verification, evicts: evicts, clock: clock)
    store.didOpen(opened)
    return store
  }

  private init(
    directory: String, path: String, opened: OpenDirectory, limits: Limits, freeSpace: FreeSpace,
    durability: Durability, verification: Verification, evicts: Bool, clock: any CacheClock
  ) {
    self.evicts = evicts
    previousCapacity = limits.changes.capacity == nil ? nil : opened.settings.capacity
    self.freeSpace = freeSpace
    self.directory = directory
    self.path = path
    self.durability = durability
    self.verification = verification
    self.clock = clock
    checkedBodies = CheckedBodies(clock: clock)
    self.limits = Mutex(limits)
    self.opened = Mutex(opened)
    policy = Mutex(EvictionPolicy(exponent: Self.evictionExponent, inflation: opened.lowestPriority))
  }

  // MARK: What it is made of

  /// Forgets the records of what was read often; nothing else of a store on disk is kept in memory for long.
  public func trimMemory(to bytes: Int64) { recentRecords.removeAll() }

  var currentDirectory: OpenDirectory { opened.withLock { $0 } }

  var currentLimits: Limits { limits.withLock { $0 } }

  /// The capacity that the directory had before this store was opened with another one; nil if the capacity
  /// is what it was.
  public let previousCapacity: Int64?

  /// What people should know of how the directory was opened, such as a damaged index that was set
  /// aside; empty if all was well.
  public var openingNotes: [String] { currentDirectory.notes }

  /// Says so if the capacity is less than an index takes in which nothing is stored; nil if there is
  /// room.
  public var noRoomNote: String? { noRoom(in: currentDirectory) }

  /// Whether changes by other processes show in `generation(of:)`. Where they cannot, as on a network
  /// file system, the generation rises with each call, and nothing can be kept in memory above this
  /// store.
  public var sharesGenerations: Bool { currentDirectory.generations != nil }

  /// A number that rises after each commit, by whatever process, that stores, replaces, freshens,
  /// invalidates or removes a response of a key; it may rise for other keys as well. Costs a hash of the key
  /// and two loads from memory.
  public func generation(of key: CacheKey) -> UInt64 { currentDirectory.generation(of: key) }

  /// The ticket of a request that is about to be sent.
  public func ticket() -> InvalidationTicket { currentDirectory.ticket() }

  /// Whether a response may match something that any process invalidated or removed after a ticket was taken.
  /// Where memory is not shared (a network file system), only invalidations by this store count.
  public func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    currentDirectory.isOvertaken(key, groups: groups, since: ticket)
  }

  /// A random key of this directory (32 bytes).
  public var secret: [UInt8] { currentDirectory.secret }

  /// The path of the file that holds exactly the body of a stored response; nil if the body is kept in
  /// the index or not complete, or the response is not stored any more.
  ///
  /// - Throws: `CacheError`.
  public func bodyPath(of record: CacheRecord) throws(CacheError) -> String? {
    let opened = try directoryToRead()
    let (id, hash) = (Int64(bitPattern: record.sequence), opened.hashes.hash(of: record.key))
    var path: String?
    path = try reading(opened) { (connection) throws(CacheError) in
      var file: String?
      try connection.query(
        "SELECT file FROM entry WHERE id = ? AND hash = ? AND partial = 0", [.integer(id), .hash(hash)]
      ) { row in
        file = row.text(0)
        return false
      }
      return file
    }
    return path.flatMap { BodyName(path: $0) }.map { opened.directory.bodyPath($0) }
  }

  // MARK: Ways to the index

  /// The parts, for reading on the calling thread.
  ///
  /// - Throws: `CacheError.unavailable` while a replaced database is being opened.
  func directoryToRead() throws(CacheError) -> OpenDirectory {
    let opened = currentDirectory
    guard opened.seemsCurrent else {
      indexQueue.submit { [weak self] in _ = try? self?.directoryToWrite() }
      throw CacheError(.unavailable, "the index was replaced")
    }
    return opened
  }

  /// The parts, after making sure that they are what lies in the directory; on the index's thread.
  func directoryToWrite() throws(CacheError) -> OpenDirectory {
    let opened = currentDirectory
    if opened.isCurrent { return opened }
    return try reopen(insteadOf: opened, isDamaged: false)
  }

  // The index was replaced, and with it the secret under which keys were hashed.
  private func forgetUses() {
    policy.withLock { $0 = EvictionPolicy(exponent: Self.evictionExponent, inflation: $0.inflation) }
    batch.withLock { $0.touches = [:] }
  }

  func reopen(
    insteadOf old: OpenDirectory, isDamaged: Bool
  ) throws(CacheError) -> OpenDirectory {
    guard currentDirectory === old else { return currentDirectory }
    try old.index.requireOpen()
    let new = try OpenDirectory.open(
      path: path, durability: durability,
      settings: DirectorySettings(
        capacity: currentLimits.capacity,
        minimumFreeSpace: evicts ? freeSpace.minimum : DirectorySettings().minimumFreeSpace),
      clock: clock, replacing: old, isDamaged: isDamaged)
    self.opened.withLock { $0 = new }
    if new.secret != old.secret { forgetUses() }
    didOpen(new)
    return new
  }

  /// Opens anew an index in which SQLite found damage, and sets it aside if it is damaged: a read that
  /// failed once may look like damage as well.
  private func suspectDamage(of opened: OpenDirectory) {
    guard currentDirectory === opened else { return }
    let isDamaged = opened.suspicions >= OpenDirectory.mostSuspicions || !opened.passesCheck()
    _ = try? reopen(insteadOf: opened, isDamaged: isDamaged)
  }

  /// Does work with the index on its thread. An index that turns out damaged is replaced.
  func onIndex<Value: Sendable>(
    _ work: @escaping @Sendable (OpenDirectory) throws(CacheError) -> Value
  ) async throws(CacheError) -> Value {
    try await indexQueue.run { [self] () throws(CacheError) in
      let opened = try directoryToWrite()
      do throws(CacheError) {
        return try work(opened)
      } catch {
        answer(error, of: opened)
        throw error
      }
    }
  }

  /// After an error of the index: one that turns out damaged is replaced; on the index's thread.
  func answer(_ error: CacheError, of opened: OpenDirectory) {
    if error.cause is IndexDamage { suspectDamage(of: opened) }
    if error.code == .newerFormat { opened.takenOver() }
  }

  /// The same on any thread.
  func noteDamage(_ error: CacheError, of opened: OpenDirectory) {
    guard error.cause is IndexDamage || error.code == .newerFormat else { return }
    indexQueue.submit { [weak self] in self?.answer(error, of: opened) }
  }

  /// Reads from the index on the calling thread. An index that turns out damaged is replaced.
  func reading<Value: Sendable>(
    _ opened: OpenDirectory, _ work: (SQLiteConnection) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    do throws(CacheError) {
      return try opened.index.read(work)
    } catch {
      noteDamage(error, of: opened)
      throw error
    }
  }

  // MARK: Usage

  /// Bytes and entries in use: index, log, counters, bodies, and bodies that this store is writing.
  public var usage: StoreUsage {
    let opened = currentDirectory
    let found = try? reading(opened) { (connection) throws(CacheError) in
      let state = try IndexState(connection)
      let pages = try PageCount(connection)
      return (state, pages)
    }
    guard let (state, pages) = found else {
      var last = lastUsage.withLock { $0 }
      last.diskCapacity = currentLimits.capacity
      return last
    }
    let usage = StoreUsage(
      diskBytes: pages.bytes + state.bodies + opened.logBytes + opened.fixedBytes
        + opened.reservations.bytes,
      diskCapacity: capacity(by: state), diskEntries: Int(clamping: state.entries))
    lastUsage.withLock { $0 = usage }
    return usage
  }
}
