public import HTTPCacheSemantics
import Synchronization

/// Counters that tell what changed in a store, on the heap of one process or in memory that processes share.
///
/// - A *generation* for each class of key hashes rises after each commit that changes an entry. A copy of an entry is up
///   to date as long as its generation is what it was when the entry was read, and no invalidation selects it.
/// - The number of the last *invalidation* for each class of scopes (targets, origins, partitions, groups). A
///   store notes each selection before it looks for matching entries, and compares tickets in the critical section that
///   makes a response visible: either the invalidation finds the response, or the response is overtaken.
/// - The number of the last *wipe* for each class of partitions. These classes are apart: a response that a wipe has
///   overtaken is not stored at all, and targets that clients choose must not do that to any partition.
///
/// Because the classes are fixed, an invalidation may overtake a response that it does not match, a wipe may keep a
/// response of another partition from being stored, and a generation may rise for another key: that costs a request or a
/// read more than needed, never a stale answer.
public final class ChangeCounters: @unchecked Sendable {
  // @unchecked Sendable because the words are only read and written by atomic operations, and released in deinit.
  private let words: UnsafeMutablePointer<Atomic<UInt64>>
  /// The number of classes of keys.
  package let keyClasses: Int
  private let scopeClasses: Int
  /// The number of classes of partitions that were wiped.
  package static let wipeClasses = 256
  private let release: () -> Void

  /// The words before those of the classes of keys.
  private enum Header: Int, CaseIterable {
    case mark, all, replacements, source, lastCommit
  }

  // MARK: Memory

  /// Makes counters for one process.
  public convenience init() {
    // 42 KiB. With fewer classes, changes of other keys end what is known of a key more often.
    let (keyClasses, scopeClasses) = (4_096, 1_024)
    let count = Self.wordCount(keyClasses: keyClasses, scopeClasses: scopeClasses)
    let words = UnsafeMutableRawPointer.allocate(byteCount: count * 8, alignment: 8)
    words.initializeMemory(as: UInt64.self, repeating: 0, count: count)
    self.init(words, keyClasses: keyClasses, scopeClasses: scopeClasses) { words.deallocate() }
    setIfZero(.source, to: .random(in: 1 ... .max))
  }

  private init(
    _ memory: UnsafeMutableRawPointer, keyClasses: Int, scopeClasses: Int, release: @escaping () -> Void
  ) {
    words = memory.assumingMemoryBound(to: Atomic<UInt64>.self)
    self.keyClasses = keyClasses
    self.scopeClasses = scopeClasses
    self.release = release
  }

  /// Counters in memory that other processes use, too; nil if the memory has the mark of another format, and is left
  /// as it is.
  ///
  /// - Parameters:
  ///   - memory: as many words of 8 bytes as `wordCount` tells; 0 before their first use.
  ///   - mark: the first word.
  ///   - release: called when the counters are no longer used, or if there are none.
  package static func shared(
    in memory: UnsafeMutableRawPointer, mark: UInt64, keyClasses: Int, scopeClasses: Int,
    release: @escaping () -> Void
  ) -> ChangeCounters? {
    let counters = ChangeCounters(
      memory, keyClasses: keyClasses, scopeClasses: scopeClasses, release: release)
    counters.setIfZero(.mark, to: mark)
    guard counters.load(.mark) == mark else { return nil }
    // Only the first user of the memory sets this word.
    counters.setIfZero(.source, to: .random(in: 1 ... .max))
    return counters
  }

  deinit { release() }

  package static func wordCount(keyClasses: Int, scopeClasses: Int) -> Int {
    Header.allCases.count + keyClasses + 2 + scopeClasses + wipeClasses
  }

  private func load(_ word: Header) -> UInt64 { words[word.rawValue].load(ordering: .acquiring) }

  private func setIfZero(_ word: Header, to value: @autoclosure () -> UInt64) {
    // An exchange writes to the page even if it changes nothing, and a directory of a newer version must stay untouched.
    guard load(word) == 0 else { return }
    _ = words[word.rawValue].compareExchange(
      expected: 0, desired: value(), ordering: .acquiringAndReleasing)
  }

  private func increment(_ index: Int) -> UInt64 {
    words[index].add(1, ordering: .acquiringAndReleasing).newValue
  }

  private func raise(_ index: Int, to number: UInt64) {
    words[index].max(number, ordering: .acquiringAndReleasing)
  }

  // MARK: Generations

  /// The class of a key. The classes are ranges of hashes as signed numbers, the order in which an index has them.
  package func keyClass(of hash: UInt64) -> Int {
    Int((hash ^ 1 << 63).multipliedFullWidth(by: UInt64(keyClasses)).high)
  }

  /// The lowest hash of a class, as a signed number.
  package func firstHash(ofKeyClass number: Int) -> Int64 {
    let (quotient, remainder) = UInt64(keyClasses).dividingFullWidth((high: UInt64(number), low: 0))
    return Int64(bitPattern: (remainder == 0 ? quotient : quotient + 1) ^ 1 << 63)
  }

  private func keyIndex(_ hash: UInt64) -> Int { Header.allCases.count + keyClass(of: hash) }

  /// A number that rises with each commit that may change an entry with this key hash.
  package func generation(of hash: UInt64) -> UInt64 {
    // Neither counter falls, so the sum changes whenever one of them does.
    words[keyIndex(hash)].load(ordering: .acquiring) &+ load(.all)
  }

  /// The two counters whose sum is a generation.
  package struct Moment: Sendable, Equatable {
    /// The counter of the class of keys.
    package var keys: UInt64
    /// The counter of all keys.
    package let all: UInt64
  }

  /// The counters of a class of key hashes now.
  package func moment(ofKeyClass number: Int) -> Moment {
    Moment(keys: words[Header.allCases.count + number].load(ordering: .acquiring), all: load(.all))
  }

  /// The most keys whose generations are raised one by one.
  package static let mostKeys = 256

  /// Raises the generation of a key.
  ///
  /// - Returns: the counter of its class.
  @discardableResult
  package func raise(_ hash: UInt64) -> UInt64 { increment(keyIndex(hash)) }

  /// Raises all generations, after a commit that may change any entry.
  package func raiseAll() { _ = increment(Header.all.rawValue) }

  /// Sets all counters of each kind to the highest of them, so that they show nothing of earlier changes.
  /// Counts as a change of any key.
  package func level() {
    let firstKey = Header.allCases.count
    for range in [firstKey..<firstKey + keyClasses, lastInvalidation..<firstWipe + Self.wipeClasses] {
      let highest = range.reduce(0) { max($0, words[$1].load(ordering: .acquiring)) }
      for index in range { raise(index, to: highest) }
    }
    raiseAll()
  }

  /// The number of times the index was replaced by another file.
  package var replacements: UInt64 { load(.replacements) }

  /// Notes that the index was replaced by another file.
  package func raiseReplacements() {
    _ = increment(Header.replacements.rawValue)
    raiseAll()
  }

  /// Notes that the change with this number was committed.
  package func didCommit(_ sequence: Int64) {
    raise(Header.lastCommit.rawValue, to: UInt64(clamping: sequence))
  }

  // MARK: Invalidations

  private var lastInvalidation: Int { Header.allCases.count + keyClasses }
  private var lastOfEverything: Int { lastInvalidation + 1 }

  private func scopeIndex(_ hash: UInt64) -> Int {
    lastOfEverything + 1 + Int((hash >> 24) % UInt64(scopeClasses))
  }

  private var firstWipe: Int { lastOfEverything + 1 + scopeClasses }

  private func wipeIndex(_ mode: CacheMode, _ partition: String) -> Int {
    let hash = InvalidationScope.partition(mode: mode, partition).hash
    return firstWipe + Int((hash >> 24) % UInt64(Self.wipeClasses))
  }

  /// The ticket of a request that is about to be sent.
  public func ticket() -> InvalidationTicket { ticket(seen: load(.lastCommit)) }

  /// The ticket of a request that is about to be sent.
  ///
  /// - Parameter seen: the highest number that the store has given to a change.
  package func ticket(seen: UInt64) -> InvalidationTicket {
    InvalidationTicket(
      source: load(.source), number: selections, seen: seen)
  }

  /// Notes that matching entries are invalidated or removed.
  public func note(_ selection: CacheSelection) { note(InvalidationScope.all(of: selection)) }

  private func note(_ scopes: [InvalidationScope]) {
    for scope in scopes {
      let number = increment(lastInvalidation)
      raise(scope == .everything ? lastOfEverything : scopeIndex(scope.hash), to: number)
    }
    // A reader that saw the number, but not yet that of the scope, has to look again.
    if !scopes.isEmpty { _ = increment(lastInvalidation) }
  }

  /// The number of the last invalidation.
  package var selections: UInt64 { words[lastInvalidation].load(ordering: .acquiring) }

  /// Makes copies of matching entries out of date, before and after the commit that changes them.
  ///
  /// - Parameter selection: not one key (`raise`).
  package func raise(_ selection: CacheSelection) {
    let scopes = InvalidationScope.all(of: selection)
    if scopes.isEmpty || scopes.contains(.everything) { raiseAll() } else { note(scopes) }
  }

  /// Notes that a partition is about to be wiped.
  public func noteWipe(mode: CacheMode, partition: String) {
    let number = increment(lastInvalidation)
    raise(wipeIndex(mode, partition), to: number)
  }

  /// Whether a ticket was taken from these counters.
  package func gave(_ ticket: InvalidationTicket) -> Bool { ticket.source == load(.source) }

  /// Whether a selection noted after a ticket was taken may match a response; true for a ticket of other counters.
  ///
  /// - Parameters:
  ///   - key: the key of the response.
  ///   - groups: the groups of the response (RFC 9875); nil before they are known: it may be in any group.
  ///   - ticket: from these counters.
  public func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    guard gave(ticket) else { return true }
    return isSelected(key, groups: groups, requestTarget: ticket.requestTarget, since: ticket.number)
  }

  /// Whether a selection that was noted since may include responses of a key.
  package func hasSelected(_ key: CacheKey, groups: [String], since number: UInt64) -> Bool {
    isSelected(key, groups: groups, requestTarget: nil, since: number)
  }

  private func isSelected(
    _ key: CacheKey, groups: [String]?, requestTarget: String?, since number: UInt64
  ) -> Bool {
    // No selection was noted since: the usual case.
    if selections == number { return false }
    if words[lastOfEverything].load(ordering: .acquiring) > number { return true }
    return InvalidationScope.contains(of: key, groups: groups, requestTarget: requestTarget) {
      words[scopeIndex($0)].load(ordering: .acquiring) > number
    }
  }

  /// Whether the partition of a response may have been wiped after a ticket was taken; true for a ticket of other
  /// counters.
  ///
  /// - Parameters:
  ///   - key: the key of the response.
  ///   - ticket: from these counters.
  public func isWiped(_ key: CacheKey, since ticket: InvalidationTicket) -> Bool {
    guard gave(ticket) else { return true }
    if words[lastInvalidation].load(ordering: .acquiring) == ticket.sent { return false }
    return words[wipeIndex(key.mode, key.partition)].load(ordering: .acquiring) > ticket.sent
  }
}
