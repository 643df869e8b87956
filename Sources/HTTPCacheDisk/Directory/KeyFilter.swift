import HTTPCacheStore
import Synchronization

/// The keys that the index has, in memory, so that a look-up of a key that was never stored does not read the index.
///
/// For each class of key hashes (`ChangeCounters`), 16 bits of the hash of each row, which are right while the counters
/// of the class change by this process alone. After a change by another process, the next look-up reads the hashes of
/// the class again, and those of the classes behind it, in one range of an index of SQLite. Memory: 2 bytes for each
/// row, and 330 KiB. Of 122 rows in a class (a million in all), one look-up in 540 for another key reads the index in
/// vain.
final class KeyFilter: Sendable {
  /// The change that a commit made to the row of a key.
  enum Change { case inserted, updated, deleted }

  private struct KeyClass: Sendable {
    /// Nil if the class has to be read.
    var moment: ChangeCounters.Moment?
    /// Some bits of the hash of each row; those of deleted rows stay until the class is read again.
    var fingerprints: [UInt16] = []
    var deleted = 0
  }

  /// Classes that share a lock.
  private final class Stripe: Sendable {
    let classes: Mutex<[KeyClass]>

    init(count: Int) { classes = Mutex([KeyClass](repeating: KeyClass(), count: count)) }
  }

  private static let stripeCount = 128
  /// The most rows, and the most classes, of one reading.
  static let (mostRows, mostClasses) = (512, 512)

  private let changes: ChangeCounters
  private let stripes: [Stripe]
  // Set once a class has more rows than one reading: reading it takes longer than the look-ups that it saves.
  private let isOverfull = Atomic<Bool>(false)

  /// - Parameter changes: the counters, which other processes raise as well.
  init(_ changes: ChangeCounters) {
    self.changes = changes
    stripes = (0..<Self.stripeCount).map { _ in Stripe(count: changes.keyClasses / Self.stripeCount + 1) }
  }

  private func withClass<Value>(
    _ number: Int, _ body: (inout KeyClass) throws -> sending Value
  ) rethrows -> sending Value {
    try stripes[number % Self.stripeCount].classes.withLock { try body(&$0[number / Self.stripeCount]) }
  }

  private func fingerprint(_ hash: UInt64) -> UInt16 { UInt16(truncatingIfNeeded: hash) }

  /// Whether the index may have a row with a hash; nil if its class has to be read first (`learn`).
  func mayContain(_ hash: UInt64) -> Bool? {
    let number = changes.keyClass(of: hash)
    return withClass(number) { keys in
      guard keys.moment == changes.moment(ofKeyClass: number) else { return nil }
      return keys.fingerprints.contains(fingerprint(hash))
    }
  }

  /// Reads the class of a hash, and as many of those behind it as one reading has.
  ///
  /// - Parameter read: reads the hashes of the rows from a signed number on, in the order of signed numbers, and no more
  ///   than so many.
  func learn(
    classOf hash: UInt64, read: (_ first: Int64, _ most: Int) throws(CacheError) -> [UInt64]
  ) throws(CacheError) {
    if isOverfull.load(ordering: .relaxed) { return }
    let first = changes.keyClass(of: hash)
    let classes = first..<min(first + Self.mostClasses, changes.keyClasses)
    // Before the rows are read: a class that changes in between is read again.
    let moments = classes.map { changes.moment(ofKeyClass: $0) }
    let hashes = try read(changes.firstHash(ofKeyClass: first), Self.mostRows)
    var rows = hashes[...]
    // The rows of the last class may go on.
    let end = hashes.count < Self.mostRows ? classes.upperBound : hashes.last.map(changes.keyClass) ?? first
    for (number, moment) in zip(classes, moments) where number < end {
      let own = rows.prefix { changes.keyClass(of: $0) == number }
      rows = rows.dropFirst(own.count)
      let read = KeyClass(moment: moment, fingerprints: own.map(fingerprint))
      withClass(number) { keys in
        if keys.moment != changes.moment(ofKeyClass: number) { keys = read }
      }
    }
    if end == first { isOverfull.store(true, ordering: .relaxed) }
  }

  /// Raises the counter of a key after a commit that changed its row, and keeps what is known of its class if no other
  /// process has changed the class.
  func raise(_ hash: UInt64, _ change: Change) {
    withClass(changes.keyClass(of: hash)) { keys in
      let raised = changes.raise(hash)
      guard let moment = keys.moment else { return }
      if change == .inserted { keys.fingerprints.append(fingerprint(hash)) }
      if change == .deleted { keys.deleted += 1 }
      guard moment.keys &+ 1 == raised, keys.deleted <= 16 + keys.fingerprints.count / 2 else {
        keys = KeyClass()
        return
      }
      keys.moment?.keys = raised
    }
  }
}
