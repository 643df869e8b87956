import HTTPCacheFiles
import HTTPCacheStore
import Synchronization

/// The owner under which a store writes bodies into a directory, and the bodies it is writing.
final class Ownership: Sendable {
  private let directory: CacheDirectory
  private let lock = Mutex<OwnerLock?>(nil)
  private let lastNumber = Atomic<UInt64>(0)
  private let inWork = Mutex<Set<BodyName>>([])

  init(_ directory: CacheDirectory) { self.directory = directory }

  /// The owner; nil before this store has written a file or changed an entry.
  var owner: UInt64? { lock.withLock { $0?.owner } }

  /// Whether other processes find the lock of the owner; true before there is a lock.
  var isShown: Bool {
    lock.withLock { $0 }?.isShown(in: directory) ?? true
  }

  /// Makes a name for a new body. No sweep deletes the body until `finished` is called.
  func startBody() throws(CacheError) -> BodyName {
    let owner = try become()
    let number = lastNumber.add(1, ordering: .relaxed).newValue
    let name = BodyName(owner: owner, number: number)
    inWork.withLock { _ = $0.insert(name) }
    return name
  }

  /// Call this when the body has its row or was deleted.
  func finished(_ name: BodyName) { inWork.withLock { _ = $0.remove(name) } }

  func isInWork(_ name: BodyName) -> Bool { inWork.withLock { $0.contains(name) } }

  /// Takes the owner lock, which tells other processes when this process ends, unless this store holds it.
  ///
  /// - Returns: the owner.
  @discardableResult
  func become() throws(CacheError) -> UInt64 {
    if let owner { return owner }
    let made = try OwnerLock(in: directory)
    // If another thread was faster, this lock and its file are dropped.
    return lock.withLock { current in
      if let current { return current.owner }
      current = made
      return made.owner
    }
  }
}
