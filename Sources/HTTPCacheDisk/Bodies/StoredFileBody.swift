import HTTPCacheFiles
import HTTPCacheStore

/// A body in a body file, whole or partial.
final class StoredFileBody: StoredBody {
  /// The objects of a store that its bodies use.
  struct Context: Sendable {
    let opened: OpenDirectory
    let queue: WorkQueue
    let verification: Verification
    let checkedBodies: CheckedBodies
    /// Called when the entry with this id turns out to be damaged.
    let onDamage: @Sendable (Int64, CacheError) -> Void

    /// The blocks of a file that need no further check.
    func checkedBlocks(of name: BodyName, _ state: FileState) -> CheckedBlocks {
      // On a network file system, neither the file's times nor the page cache show changes by other machines.
      guard verification == .firstRead, opened.generations.isShared else { return CheckedBlocks() }
      return checkedBodies.blocks(of: name, state)
    }
  }

  private let row: EntryRow
  private let name: BodyName
  private let record: CacheRecord
  private let context: Context

  init(_ row: EntryRow, name: BodyName, record: CacheRecord, context: Context) {
    self.row = row
    self.name = name
    self.record = record
    self.context = context
  }

  func open() throws(CacheError) -> any BodyReader {
    let (id, onDamage) = (row.id, context.onDamage)
    do throws(CacheError) {
      return DiskBodyReader(
        body: DiskBody(
          file: try blocks(), ranges: record.storedRanges,
          length: record.isComplete ? row.length : record.bodyLength),
        queue: context.queue, onDamage: { onDamage(id, $0) })
    } catch {
      // Damage of the index is reported elsewhere: a read of the index that failed once may look like damage.
      if error.code == .damaged, !(error.cause is IndexDamage) { onDamage(id, error) }
      throw error
    }
  }

  /// The reader of the file. Damage is thrown and not reported.
  ///
  /// - Throws: `CacheError.unavailable` if the file is gone: the entry is then removed, as a damaged entry is.
  ///   `CacheError.io` if the file cannot be opened.
  func blocks() throws(CacheError) -> BlockReader {
    let ranges = record.storedRanges
    guard let (file, state) = try context.opened.directory.openBody(name) else {
      let error = CacheError(.unavailable, "the body's file is gone")
      context.onDamage(row.id, error)
      throw error
    }
    // The file of a partial body may have grown since its record was read.
    guard ranges == nil ? state.size == row.length : state.size >= ranges?.last?.upperBound ?? 0 else {
      throw CacheError(.damaged, "body has \(state.size) bytes, too few or too many for what was written")
    }
    let checked = context.checkedBlocks(of: name, state)
    return BlockReader(
      file: file, checksEveryRead: context.verification == .everyRead, known: (checked, state),
      pieces: try pieces(checked: checked))
  }

  private func pieces(checked: CheckedBlocks) throws(CacheError) -> BlockReader.Pieces {
    let wholeLength = record.isComplete ? row.length : nil
    // The row has the checksum of a whole body of one block. The pieces of all other bodies are in the table `block`.
    if let wholeLength, wholeLength <= StoredPieces.blockLength {
      let pieces = StoredPieces(length: wholeLength, checksum: row.checksum)
      return { pieces }
    }
    let (id, index, ranges) = (row.id, context.opened.index, record.storedRanges ?? [0..<row.length])
    let load: BlockReader.Pieces = { () throws(CacheError) in
      let pieces = try index.pieces(of: id, wholeLength: wholeLength)
      guard !pieces.list.isEmpty else { throw CacheError(.unavailable, "the entry was removed") }
      guard pieces.cover(ranges) else { throw CacheError(.damaged, "parts of the body are missing") }
      return pieces
    }
    // If all blocks are checked already, load the pieces when they are needed. Otherwise load them now,
    // because a transaction may remove them later.
    if let wholeLength, checked.contains(StoredPieces.blocks(of: 0..<wholeLength)) { return load }
    let pieces = try load()
    return { pieces }
  }
}
