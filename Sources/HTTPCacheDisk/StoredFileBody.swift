import HTTPCacheStore

/// A body in a file of its own.
final class StoredFileBody: StoredBody {
  /// What a store lends its bodies.
  struct Context: Sendable {
    let parts: StoreParts
    let queue: WorkQueue
    let verification: Verification
    let checkedBodies: CheckedBodies
    /// Told once it turns out that the entry with this id is not what was written.
    let onDamage: @Sendable (Int64, CacheError) -> Void

    /// Opens the file of an entry's body.
    ///
    /// - Throws: `CacheError.io` if it is gone; the entry is then of no use either.
    func file(
      _ name: BodyName, of id: Int64
    ) throws(CacheError) -> (file: OpenFile, state: FileState) {
      if let found = try parts.directory.openBodyWithState(name) { return found }
      let error = CacheError(.io, "the body's file is gone")
      onDamage(id, error)
      throw error
    }

    /// The blocks of a file that need not be checked any more.
    func checkedBlocks(of name: BodyName, _ state: FileState) -> CheckedBlocks {
      // Over a network, neither times nor what this system has in memory tell of what others do.
      guard verification == .firstRead, parts.generations != nil else { return CheckedBlocks() }
      return checkedBodies.blocks(of: name, state)
    }

    /// Opens an entry's body, and tells if it is damaged.
    func opening(
      _ id: Int64, _ open: () throws(CacheError) -> any BodyReader
    ) throws(CacheError) -> any BodyReader {
      do throws(CacheError) { return try open() } catch {
        // Of the index is another matter, and a read of it that failed may look like it.
        if error.code == .damaged, !(error.cause is IndexDamage) { onDamage(id, error) }
        throw error
      }
    }
  }

  private let id: Int64
  private let name: BodyName
  private let extent: StoredExtent
  // Of the only block; bodies of several blocks have theirs in a table.
  private let checksum: UInt64
  private let context: Context

  init(id: Int64, name: BodyName, extent: StoredExtent, checksum: UInt64, context: Context) {
    self.id = id
    self.name = name
    self.extent = extent
    self.checksum = checksum
    self.context = context
  }

  func open() throws(CacheError) -> any BodyReader {
    try context.opening(id, openChecked)
  }

  private func openChecked() throws(CacheError) -> any BodyReader {
    let (file, state) = try context.file(name, of: id)
    let size = state.size
    guard size == extent.storedLength, extent.isConsistent else {
      throw CacheError(.damaged, "body has \(size) bytes, \(extent.storedLength) were written")
    }
    let count = BlockChecksums.count(length: size)
    let checked = context.checkedBlocks(of: name, state)
    var checksums = BlockChecksums(values: [checksum])
    // Where all is checked already, nothing is left to compare.
    let (id, onDamage, parts) = (id, context.onDamage, context.parts)
    let load: @Sendable () throws(CacheError) -> BlockChecksums = { () throws(CacheError) in
      let checksums = try parts.index.read { (connection) throws(CacheError) in
        try BlockChecksums.load(connection, entry: id)
      }
      guard checksums.values.count == count else { throw CacheError(.io, "the entry was removed") }
      return checksums
    }
    if count > 1, !checked.contains(0..<count) { checksums = try load() }
    return FileBodyReader(
      blocks: BlockReader(
        file: file, verification: context.verification, checked: checked, state: state,
        reload: load),
      checksums: checksums, extent: extent, queue: context.queue, onDamage: { onDamage(id, $0) })
  }
}

extension BlockChecksums {
  /// The checksums of an entry with more than one block.
  static func load(
    _ connection: SQLiteConnection, entry: Int64
  ) throws(CacheError) -> BlockChecksums {
    var checksums = BlockChecksums()
    try connection.query(
      "SELECT checksums FROM block WHERE entry = ? ORDER BY part", [.integer(entry)]
    ) { row in
      checksums.append(encoded: row.blob(0))
      return true
    }
    return checksums
  }
}
