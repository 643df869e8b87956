import HTTPCacheFiles
import HTTPCacheStore

/// A locked file in `writers` that tells other processes that an owner lives. The system releases the lock when the
/// process ends, however it ends. Other processes can then tell its unfinished bodies from bodies being written.
final class OwnerLock: Sendable {
  let owner: UInt64
  private let folder: CacheFile
  private let file: CacheFile

  private static let newSuffix = ".new"

  convenience init(in directory: CacheDirectory) throws(CacheError) {
    try self.init(folder: try CacheDirectory.folder("writers", in: directory.root))
  }

  init(folder: CacheFile) throws(CacheError) {
    owner = UInt64.random(in: .min ... .max)
    self.folder = folder
    let name = BodyName.ownerText(owner)
    // Lock the file under another name first: a sweep that found it unlocked would take its owner for dead.
    file = try CacheFile(name + Self.newSuffix, in: folder, flags: CacheFile.making)
    do throws(CacheError) {
      guard file.tryLock() else { throw CacheError(.io, "cannot lock writers/\(name)") }
      try folder.rename(name + Self.newSuffix, to: name)
    } catch {
      folder.remove(name + Self.newSuffix)
      throw error
    }
  }

  deinit { folder.remove(BodyName.ownerText(owner)) }

  /// Whether other processes find the lock in a folder; false if the folder was emptied.
  func isShown(in directory: CacheDirectory) -> Bool {
    guard let folder = try? CacheFile("writers", in: directory.root, flags: CacheFile.folder),
      let status = try? file.status()
    else { return false }
    return FileIdentity(BodyName.ownerText(owner), in: folder) == FileIdentity(status)
  }

  /// The owners whose processes live, and the owners whose processes ended without deleting their locks.
  ///
  /// - Throws: `CacheError` if the locks cannot be listed. Each owner may then live.
  static func owners(
    in directory: CacheDirectory
  ) throws(CacheError) -> (living: Set<UInt64>, dead: [DeadOwner]) {
    guard
      let folder = try CacheFile(existing: "writers", in: directory.root, flags: CacheFile.folder)
    else { return ([], []) }
    return try owners(of: folder)
  }

  /// The living and dead owners in a folder of locks.
  ///
  /// - Throws: `CacheError` if the locks cannot be listed.
  static func owners(
    of folder: CacheFile
  ) throws(CacheError) -> (living: Set<UInt64>, dead: [DeadOwner]) {
    var living: Set<UInt64> = []
    var dead: [DeadOwner] = []
    for name in try CacheDirectory.names(in: folder) {
      let text = name.hasSuffix(newSuffix) ? String(name.dropLast(newSuffix.count)) : name
      guard text.utf8.count == 16, let owner = UInt64(text, radix: 16) else { continue }
      guard text == name else {
        // The owner was creating its lock when this ran, so it has written nothing yet.
        living.insert(owner)
        continue
      }
      let file: CacheFile
      do throws(CacheError) {
        let found = try CacheFile(existing: name, in: folder, flags: CacheFile.writing)
        guard let found else { continue }
        file = found
      } catch {
        // The lock cannot be tried now, so its owner may live.
        living.insert(owner)
        continue
      }
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
  let folder: CacheFile
  let file: CacheFile

  /// Deletes the lock file, after the files of the owner were deleted.
  func forget() { folder.remove(BodyName.ownerText(owner)) }
}
