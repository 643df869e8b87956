import HTTPCacheStore
import Synchronization

/// The keys that the index has, in memory, so that a look-up of a key that was never stored does not read the index.
///
/// For each class of key hashes (`ChangeCounters`), 16 bits of the hash of each row, which are right while the counters
/// of the class change by this process alone. After a change by another process, the next look-up reads the hashes of
/// the class again: one range of an index of SQLite. Memory: 2 bytes for each row, and 330 KiB. Of 122 rows in a class
/// (a million in all), one look-up in 540 for another key reads the index in vain.
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

  private static let (stripeCount, classesOfStripe) = (128, 64)
  private static var classCount: Int { GenerationFile.keyClasses }
  // Above this, reading a class takes longer than the look-ups that it saves.
  private static let mostOfClass = 512

  private let changes: ChangeCounters
  private let stripes = (0..<stripeCount).map { _ in Stripe(count: classesOfStripe) }

  /// - Parameter changes: the counters, which other processes raise as well.
  init(_ changes: ChangeCounters) { self.changes = changes }

  private func withClass<Value>(of hash: UInt64, _ body: (inout KeyClass) -> sending Value) -> sending Value {
    let number = ChangeCounters.keyClass(of: hash, among: Self.classCount)
    return stripes[number % Self.stripeCount].classes.withLock { body(&$0[number / Self.stripeCount]) }
  }

  private func fingerprint(_ hash: UInt64) -> UInt16 { UInt16(truncatingIfNeeded: hash) }

  /// Whether the index may have a row with a hash; nil if the class of the hash has to be read first (`learn`).
  func mayContain(_ hash: UInt64) -> Bool? {
    withClass(of: hash) { keys in
      guard let moment = keys.moment, moment == changes.moment(of: hash) else { return nil }
      return keys.fingerprints.contains(fingerprint(hash))
    }
  }

  /// Reads the class of a hash.
  ///
  /// - Parameter read: reads the hashes of the rows in a range of signed numbers, and no more than so many.
  func learn(
    classOf hash: UInt64, read: (ClosedRange<Int64>, _ most: Int) throws(CacheError) -> [UInt64]
  ) throws(CacheError) {
    // Before the rows are read: after a change in between, the class is read again.
    let moment = changes.moment(of: hash)
    let number = ChangeCounters.keyClass(of: hash, among: Self.classCount)
    let hashes = try read(Self.hashes(ofClass: number), Self.mostOfClass + 1)
    guard hashes.count <= Self.mostOfClass else { return }
    let known = KeyClass(moment: moment, fingerprints: hashes.map(fingerprint))
    withClass(of: hash) { $0 = known }
  }

  /// Raises the counter of a key after a commit that changed its row, and keeps what is known of its class if no other
  /// process has changed the class.
  func raise(_ hash: UInt64, _ change: Change) {
    withClass(of: hash) { keys in
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

  /// The hashes of a class, as signed numbers.
  static func hashes(ofClass number: Int) -> ClosedRange<Int64> {
    func first(_ number: Int) -> UInt64 {
      let (quotient, remainder) = UInt64(classCount).dividingFullWidth((high: UInt64(number), low: 0))
      return remainder == 0 ? quotient : quotient + 1
    }
    func signed(_ place: UInt64) -> Int64 { Int64(bitPattern: place ^ 1 << 63) }
    let last = number == classCount - 1 ? UInt64.max : first(number + 1) - 1
    return signed(first(number))...signed(last)
  }
}
