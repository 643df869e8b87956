import HTTPCacheStore
import Synchronization

/// The name under which a store writes bodies into a folder, and what it is writing.
final class Ownership: Sendable {
  private let lock = Mutex<OwnerLock?>(nil)
  private let lastNumber = Atomic<UInt64>(0)
  private let inWork = Mutex<Set<BodyName>>([])

  /// The name; nil before a file was written.
  var owner: UInt64? { lock.withLock { $0?.owner } }

  /// Whether other processes find the lock that goes with the name; true before there is one.
  func isShown(in directory: CacheDirectory) -> Bool {
    lock.withLock { $0 }?.isShown(in: directory) ?? true
  }

  /// A new name for a body, which no sweep takes until `finished` is called.
  func startBody(in directory: CacheDirectory) throws(CacheError) -> BodyName {
    let owner = try ownerID(in: directory)
    let number = lastNumber.add(1, ordering: .relaxed).newValue
    let name = BodyName(owner: owner, number: number)
    inWork.withLock { _ = $0.insert(name) }
    return name
  }

  /// The body has its row, or is gone.
  func finished(_ name: BodyName) { inWork.withLock { _ = $0.remove(name) } }

  func isInWork(_ name: BodyName) -> Bool { inWork.withLock { $0.contains(name) } }

  /// The name, which is locked first if it is not yet.
  func ownerID(in directory: CacheDirectory) throws(CacheError) -> UInt64 {
    if let owner { return owner }
    let made = try OwnerLock(in: directory)
    // If another thread was quicker, this lock is dropped and its file with it.
    return lock.withLock { current in
      if let current { return current.owner }
      current = made
      return made.owner
    }
  }
}
