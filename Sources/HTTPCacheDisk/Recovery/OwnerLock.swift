import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tells other processes that the writer of this name lives: a locked file in `writers`. The lock goes
/// with the process, however it ends, so that its unfinished bodies can be told from those in work.
final class OwnerLock: Sendable {
  let owner: UInt64
  private let folder: OpenFile
  private let file: OpenFile

  private static let newSuffix = ".new"

  convenience init(in directory: CacheDirectory) throws(CacheError) {
    try self.init(folder: try CacheDirectory.folder("writers", in: directory.root))
  }

  init(folder: OpenFile) throws(CacheError) {
    owner = UInt64.random(in: .min ... .max)
    self.folder = folder
    let name = BodyName.ownerText(owner)
    // Locked under another name: a sweep that found the file unlocked would take its owner for dead.
    file = try OpenFile(name + Self.newSuffix, in: folder, flags: O_RDWR | O_CREAT | O_EXCL)
    guard file.tryLock(),
      renameat(folder.descriptor, name + Self.newSuffix, folder.descriptor, name) == 0
    else {
      let error = SystemError.last("make writers/\(name)")
      unlinkat(folder.descriptor, name + Self.newSuffix, 0)
      throw error
    }
  }

  deinit { unlinkat(folder.descriptor, BodyName.ownerText(owner), 0) }

  /// Whether other processes find the lock in a folder; false if the folder was emptied.
  func isShown(in directory: CacheDirectory) -> Bool {
    guard let folder = try? OpenFile("writers", in: directory.root, flags: O_RDONLY | O_DIRECTORY),
      let status = try? file.status()
    else { return false }
    return FileIdentity(BodyName.ownerText(owner), in: folder) == FileIdentity(status)
  }

  /// The owners whose processes live, and those whose processes ended without cleaning up.
  static func owners(in directory: CacheDirectory) -> (living: Set<UInt64>, dead: [DeadOwner]) {
    guard let folder = try? OpenFile("writers", in: directory.root, flags: O_RDONLY | O_DIRECTORY)
    else { return ([], []) }
    return owners(of: folder)
  }

  /// The same for a folder of locks.
  static func owners(of folder: OpenFile) -> (living: Set<UInt64>, dead: [DeadOwner]) {
    var living: Set<UInt64> = []
    var dead: [DeadOwner] = []
    for name in CacheDirectory.names(in: folder) {
      let text = name.hasSuffix(newSuffix) ? String(name.dropLast(newSuffix.count)) : name
      guard text.utf8.count == 16, let owner = UInt64(text, radix: 16) else { continue }
      guard text == name else {
        // Between creation and renaming; it has written nothing yet.
        living.insert(owner)
        continue
      }
      guard let file = try? OpenFile(name, in: folder, flags: O_RDWR) else { continue }
      if file.tryLock() {
        dead.append(DeadOwner(owner: owner, folder: folder, file: file))
      } else {
        living.insert(owner)
      }
    }
    return (living, dead)
  }
}

/// The lock that a dead process left, now held by the process that cleans up after it.
struct DeadOwner: Sendable {
  let owner: UInt64
  let folder: OpenFile
  let file: OpenFile

  /// Says that nothing is left of it.
  func forget() { unlinkat(folder.descriptor, BodyName.ownerText(owner), 0) }
}
