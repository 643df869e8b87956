import CSystemShims
import HTTPCacheSemantics
import HTTPCacheStore

/// `Cache.gen`: counters in memory that all processes of a directory share.
///
/// Words of 8 bytes, in the machine's order: a magic number, the global counter, the number of times
/// the database was replaced, a random number that names the file, the highest number that was given to a change
/// of the index, then one counter for each of 8,187 classes of key hashes. After them, in a second part, the
/// number of the last invalidation, that of the last one that concerns everything, and that of the last one for
/// each of 8,190 classes of scopes (`InvalidationScope`).
final class GenerationFile: Sendable {
  private let memory: SharedMapping

  private static let wordCount = 16_384
  private static let firstPart = 8_192
  private static let headerWords = 5
  private static let magic: UInt64 = 0x3130_6E65_4763_6848
  static let byteCount = wordCount * 8

  /// Which file is mapped.
  var identity: FileIdentity { memory.identity }

  private var words: UnsafeMutablePointer<UInt64> { memory.words }

  /// Maps the file of a directory, and makes it first if need be. What is none of ours in its place is
  /// removed; nobody else may do this at the same time.
  ///
  /// - Throws: `CacheError.unavailable` where memory cannot be shared through it.
  static func map(in directory: OpenFile) throws(CacheError) -> GenerationFile {
    GenerationFile(
      memory: try SharedMapping.map(
        CacheDirectory.generationsName, in: directory, byteCount: byteCount, magic: magic))
  }

  private init(memory: SharedMapping) {
    self.memory = memory
    // Only the first process that opens the file names it.
    _ = shim_atomic_exchange(memory.words + 3, 0, .random(in: 1 ... .max))
  }

  private func cell(_ hash: UInt64) -> UnsafeMutablePointer<UInt64> {
    // The upper half, since classes of other tables go by the lower one.
    let classes = UInt64(Self.firstPart - Self.headerWords)
    return words + Self.headerWords + Int((hash >> 24) % classes)
  }

  /// A number that rises with each commit that may concern a key with this hash.
  func generation(of hash: UInt64) -> UInt64 {
    shim_atomic_load(cell(hash)) &+ shim_atomic_load(words + 1)
  }

  /// After a commit that concerns these keys.
  func bump(_ hashes: [UInt64]) {
    guard hashes.count <= 64 else { return bumpAll() }
    for hash in hashes { shim_atomic_increment(cell(hash)) }
  }

  /// After a commit that may concern any key.
  func bumpAll() { shim_atomic_increment(words + 1) }

  /// Gives all counters of each kind the highest number that one has, so that they tell nothing of what was
  /// counted. As after a commit that may concern any key.
  func level() {
    for cells in [Self.headerWords..<Self.firstPart, Self.firstPart..<Self.wordCount] {
      let highest = cells.reduce(0) { max($0, shim_atomic_load(words + $1)) }
      for cell in cells { raise(words + cell, to: highest) }
    }
    bumpAll()
  }

  private func raise(_ cell: UnsafeMutablePointer<UInt64>, to number: UInt64) {
    while true {
      let now = shim_atomic_load(cell)
      if now >= number || shim_atomic_exchange(cell, now, number) == 1 { return }
    }
  }

  /// How often the database was replaced by another file.
  var replacements: UInt64 { shim_atomic_load(words + 2) }

  func bumpReplacements() {
    shim_atomic_increment(words + 2)
    bumpAll()
  }

  /// A number was given to a change, and the change was committed.
  func didCommit(_ sequence: Int64) { raise(words + 4, to: UInt64(clamping: sequence)) }

  // MARK: Invalidations

  private var lastInvalidation: UnsafeMutablePointer<UInt64> { words + Self.firstPart }
  private var lastOfEverything: UnsafeMutablePointer<UInt64> { words + Self.firstPart + 1 }

  private func scopeCell(_ hash: UInt64) -> UnsafeMutablePointer<UInt64> {
    words + Self.firstPart + 2 + Int((hash >> 24) % UInt64(Self.wordCount - Self.firstPart - 2))
  }

  /// The ticket of a request that is about to be sent.
  func ticket() -> InvalidationTicket {
    InvalidationTicket(
      source: shim_atomic_load(words + 3), number: shim_atomic_load(lastInvalidation),
      seen: shim_atomic_load(words + 4))
  }

  /// Notes that a scope is invalidated, see `InvalidationLog.note(_:)`.
  func note(_ scope: InvalidationScope) {
    let number = shim_atomic_add(lastInvalidation, 1)
    raise(scope == .everything ? lastOfEverything : scopeCell(scope.hash), to: number)
  }

  /// Whether something overtook a request; true for a ticket of another file.
  func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    guard ticket.source == shim_atomic_load(words + 3) else { return true }
    if shim_atomic_load(lastInvalidation) == ticket.number { return false }
    if shim_atomic_load(lastOfEverything) > ticket.number { return true }
    return InvalidationScope.contains(of: key, groups: groups, requestTarget: ticket.requestTarget) {
      shim_atomic_load(scopeCell($0)) > ticket.number
    }
  }
}
