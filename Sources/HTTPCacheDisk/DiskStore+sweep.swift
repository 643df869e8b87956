import HTTPCacheStore

extension DiskStore {
  /// Looks for bodies that a process left without rows, if one may have, and deletes them folder by
  /// folder in the background. What a living process is writing stays.
  func startSweep(of parts: StoreParts) {
    fileQueue.submit { [weak self] in
      self?.workOffEpochs(of: parts)
      let (_, dead) = OwnerLock.owners(in: parts.directory)
      guard parts.needsSweep || !dead.isEmpty else { return }
      // It may have ended between a commit and telling of it.
      parts.generations?.bumpAll()
      self?.sweep(parts.directory.shards(), of: parts, deadOwners: dead)
    }
  }

  private func sweep(_ shards: [String], of parts: StoreParts, deadOwners: [DeadOwner]) {
    guard let shard = shards.first else {
      for owner in deadOwners { owner.forget() }
      return
    }
    _ = try? removeOrphans(in: shard, of: parts, deadOwners: deadOwners)
    fileQueue.submit { [weak self] in
      self?.sweep(Array(shards.dropFirst()), of: parts, deadOwners: deadOwners)
    }
  }

  /// Finds files that no row knows of and nobody is writing.
  ///
  /// - Parameter deadOwners: whose locks are held here, and therefore look as if they lived.
  /// - Throws: `CacheError` if the index cannot be read.
  func orphans(
    in shard: String, of parts: StoreParts, deadOwners: [DeadOwner]
  ) throws(CacheError) -> [String] {
    var orphans: [String] = []
    // Listed before the owners are looked at: who wrote a listed file and lives has its lock by then.
    let files = parts.directory.files(inShard: shard)
    let living = OwnerLock.owners(in: parts.directory).living.subtracting(deadOwners.map(\.owner))
    for file in files {
      let isTemporary = file.hasSuffix(BodyName.temporarySuffix)
      let text = isTemporary ? String(file.dropLast(BodyName.temporarySuffix.count)) : file
      // What is not named like a body is not ours to delete.
      guard let name = BodyName(fileName: text), name.shard == shard else { continue }
      if name.owner == parts.currentOwner {
        if parts.isInWork(name) { continue }
      } else if living.contains(name.owner) {
        // A body of a living process without a row may be about to get one.
        continue
      }
      if !isTemporary {
        let rows = try parts.index.read { (connection) throws(CacheError) in
          try connection.number("SELECT id FROM entry WHERE file = ?", [.text(name.path)])
        }
        if rows != nil { continue }
      }
      orphans.append(file)
    }
    return orphans
  }

  /// Deletes files that no row knows of and nobody is writing.
  @discardableResult
  func removeOrphans(
    in shard: String, of parts: StoreParts, deadOwners: [DeadOwner]
  ) throws(CacheError) -> Int {
    var count = 0
    for file in try orphans(in: shard, of: parts, deadOwners: deadOwners)
    where parts.directory.removeFile(file, inShard: shard) {
      count += 1
    }
    return count
  }
}
