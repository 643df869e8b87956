import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The thread of a store that writes to the index, and the directory that the store has open. If the directory or its
/// index is replaced, it is opened again.
final class IndexThread: Sendable {
  /// Called for each directory that was opened.
  ///
  /// - Parameter older: the directory that it replaces.
  typealias Opening = @Sendable (_ opened: OpenDirectory, _ older: OpenDirectory?) -> Void

  // One thread writes to the index, so that waiting writers hold no threads.
  let queue = WorkQueue(threads: 1)
  // The absolute path.
  private let path: String
  private let options: DiskStore.Options
  private let limits: DiskLimits
  private let opened: Mutex<Opened>
  // Each hit in memory reads these, without a lock that all hits would share. `opened` keeps the object.
  private let generations: Atomic<Unmanaged<KeyGenerations>>
  private let onOpening = Mutex<Opening>({ _, _ in })

  private struct Opened {
    var directory: OpenDirectory
    /// The generations of the directory and of those that it replaced: a hit may still be reading them.
    var generations: [KeyGenerations]
  }

  init(path: String, options: DiskStore.Options, limits: DiskLimits, opened: OpenDirectory) {
    self.path = path
    self.options = options
    self.limits = limits
    self.opened = Mutex(Opened(directory: opened, generations: [opened.keyGenerations]))
    generations = Atomic(.passUnretained(opened.keyGenerations))
  }

  /// Calls a function for the open directory, and for each that replaces it.
  func whenOpened(_ onOpening: @escaping Opening) {
    self.onOpening.withLock { $0 = onOpening }
    onOpening(currentDirectory, nil)
  }

  var currentDirectory: OpenDirectory { opened.withLock { $0.directory } }

  /// The generations of the open directory, without a lock.
  func withGenerations<Value>(_ body: (KeyGenerations) -> Value) -> Value {
    generations.load(ordering: .acquiring)._withUnsafeGuaranteedRef(body)
  }

  /// The hash of a key in the open directory, and whether that has no row of the key, as far as that is known.
  func place(of key: CacheKey) -> (hash: UInt64, isKnownAbsent: Bool) {
    withGenerations { generations in
      let hash = generations.hashes.hash(of: key)
      return (hash, generations.isKnownAbsent(hash))
    }
  }

  /// The open directory, for reading on the calling thread.
  ///
  /// - Throws: `CacheError.unavailable` while a replaced index is being opened.
  func directoryToRead() throws(CacheError) -> OpenDirectory {
    let opened = currentDirectory
    guard opened.seemsCurrent else {
      queue.submit { [weak self] in _ = try? self?.directoryToWrite() }
      throw CacheError(.unavailable, "the index was replaced")
    }
    return opened
  }

  /// The open directory, opened again if it was replaced; on the index thread.
  func directoryToWrite() throws(CacheError) -> OpenDirectory {
    let opened = currentDirectory
    if opened.isCurrent { return opened }
    return try reopen(insteadOf: opened, isDamaged: false)
  }

  private func reopen(
    insteadOf old: OpenDirectory, isDamaged: Bool
  ) throws(CacheError) -> OpenDirectory {
    guard currentDirectory === old else { return currentDirectory }
    try old.index.requireOpen()
    let new = try OpenDirectory.open(
      path: path, durability: options.durability,
      settings: DirectorySettings(
        capacity: limits.capacity,
        minimumFreeSpace: options.evicts ? old.freeSpace.minimum : DirectorySettings().minimumFreeSpace),
      freeSpace: old.freeSpace, replacing: old, isDamaged: isDamaged)
    opened.withLock {
      $0.directory = new
      $0.generations.append(new.keyGenerations)
    }
    generations.store(.passUnretained(new.keyGenerations), ordering: .releasing)
    let onOpening = self.onOpening.withLock { $0 }
    onOpening(new, old)
    return new
  }

  // MARK: Work

  /// Runs work on this thread. An index that turns out damaged is replaced.
  func run<Value: Sendable>(
    _ work: @escaping @Sendable (OpenDirectory) throws(CacheError) -> Value
  ) async throws(CacheError) -> Value {
    try await queue.run { [self] () throws(CacheError) in
      let opened = try directoryToWrite()
      do throws(CacheError) {
        return try work(opened)
      } catch {
        handleIndexError(error, of: opened)
        throw error
      }
    }
  }

  /// Runs work that began with an open directory, as `run(_:)` does.
  ///
  /// - Throws: `CacheError.unavailable` if another directory is open now; what `work` throws.
  func run<Value: Sendable>(
    in opened: OpenDirectory, for key: CacheKey, _ work: @escaping @Sendable () throws(CacheError) -> Value
  ) async throws(CacheError) -> Value {
    try await run { (current) throws(CacheError) in
      guard current === opened else { throw Self.replaced(for: key) }
      return try work()
    }
  }

  /// The error of work that began with a directory that is no longer open.
  static func replaced(for key: CacheKey) -> CacheError {
    CacheError(.unavailable, "the index was replaced", key: key)
  }

  /// Reads from the index on the calling thread. An index that turns out damaged is replaced.
  func read<Value: Sendable>(
    _ opened: OpenDirectory, _ work: (SQLiteConnection) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    do throws(CacheError) {
      return try opened.index.read(work)
    } catch {
      noteDamage(error, of: opened)
      throw error
    }
  }

  // MARK: Damage

  /// Handles an error of the index: a damaged index is replaced; on the index thread.
  func handleIndexError(_ error: CacheError, of opened: OpenDirectory) {
    if error.cause is IndexDamage { suspectDamage(of: opened) }
    if error.code == .newerFormat { opened.takenOver() }
  }

  /// Passes an error of the index to `handleIndexError` on the index thread. Any thread may call this.
  func noteDamage(_ error: CacheError, of opened: OpenDirectory) {
    guard error.cause is IndexDamage || error.code == .newerFormat else { return }
    queue.submit { [weak self] in self?.handleIndexError(error, of: opened) }
  }

  /// Opens an index again in which SQLite found damage, and sets it aside if a check confirms the damage. A
  /// read that failed once may look like damage, too.
  private func suspectDamage(of opened: OpenDirectory) {
    guard currentDirectory === opened else { return }
    let isDamaged = opened.suspicions >= OpenDirectory.mostSuspicions || !opened.passesCheck()
    _ = try? reopen(insteadOf: opened, isDamaged: isDamaged)
  }

  /// Sets a damaged index aside and opens a new one.
  func replaceDamaged(_ opened: OpenDirectory) async throws(CacheError) -> OpenDirectory {
    try await queue.run { [self] () throws(CacheError) in
      try reopen(insteadOf: opened, isDamaged: true)
    }
  }

  /// Removes a damaged entry. The entry counts as a miss from now on.
  func removeDamaged(_ id: Int64, in opened: OpenDirectory) {
    opened.damaged.withLock { _ = $0.insert(id) }
    queue.submit { [weak self] in
      // If the entry cannot be removed, the next reader reports it again.
      defer { opened.damaged.withLock { _ = $0.remove(id) } }
      guard let self, opened === currentDirectory else { return }
      _ = try? opened.removeRows(where: "id = ?", [.integer(id)])
    }
  }
}
