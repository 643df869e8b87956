import HTTPCacheSemantics
import HTTPCacheStore

/// The generations of keys in an open directory, and the keys without a row, as far as they are known without reading
/// the index.
final class KeyGenerations: Sendable {
  private let file: GenerationFile
  let hashes: RowHashes
  // Above all generations of an older open directory.
  private let first: UInt64
  /// The keys of the index, in memory; nil where changes by other processes are not visible.
  let filter: KeyFilter?

  init(_ file: GenerationFile, hashes: RowHashes, above older: KeyGenerations?) {
    self.file = file
    filter = file.isShared ? KeyFilter(file.changes) : nil
    self.hashes = hashes
    first = older.map { $0.first &+ 1 << 48 } ?? 0
  }

  /// The generation of a key. If changes by other processes are not visible, it rises with each call, so that no entry
  /// in memory is used.
  func generation(of key: CacheKey) -> Generation {
    if !file.isShared { file.changes.raiseAll() }
    // Before the changes: a selection without a scope raises only these.
    let selections = file.changes.selections
    return Generation(
      changes: first &+ file.changes.generation(of: hashes.hash(of: key)), selections: selections)
  }

  /// Whether a selection that was noted since may include responses of a key.
  func hasSelected(_ key: CacheKey, groups: [String], since selections: UInt64) -> Bool {
    file.changes.hasSelected(key, groups: groups, since: selections)
  }

  /// Whether the index has no row of a key, given as its hash, as far as that is known.
  func isKnownAbsent(_ hash: UInt64) -> Bool { filter?.mayContain(hash) == false }
}
