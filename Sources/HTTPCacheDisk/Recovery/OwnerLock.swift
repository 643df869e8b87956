import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A locked file in `writers` that tells other processes that an owner lives. The system releases the lock when the
/// process ends, however it ends. Other processes can then tell its unfinished bodies from bodies being written.
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
    // Lock the file under another name first: a sweep that found it unlocked would take its owner for dead.
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

  /// The owners whose processes live, and the owners whose processes ended without deleting their locks.
  static func owners(in directory: CacheDirectory) -> (living: Set<UInt64>, dead: [DeadOwner]) {
    guard let folder = try? OpenFile("writers", in: directory.root, flags: O_RDONLY | O_DIRECTORY)
    else { return ([], []) }
    return owners(of: folder)
  }

  /// The living and dead owners in a folder of locks.
  static func owners(of folder: OpenFile) -> (living: Set<UInt64>, dead: [DeadOwner]) {
    var living: Set<UInt64> = []
    var dead: [DeadOwner] = []
    for name in CacheDirectory.names(in: folder) {
      let text = name.hasSuffix(newSuffix) ? String(name.dropLast(newSuffix.count)) : name
      guard text.utf8.count == 16, let owner = UInt64(text, radix: 16) else { continue }
      guard text == name else {
        // The owner was creating its lock when this ran, so it has written nothing yet.
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

/// The lock of a dead process, held now by the process that deletes its files.
struct DeadOwner: Sendable {
  let owner: UInt64
  let folder: OpenFile
  let file: OpenFile

  /// Deletes the lock file, after the files of the owner were deleted.
  func forget() { unlinkat(folder.descriptor, BodyName.ownerText(owner), 0) }
}
