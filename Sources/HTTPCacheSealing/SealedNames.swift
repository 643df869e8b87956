import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Synchronization

/// The names in the store below: keyed digests. The store below can find entries by them, but its readers can
/// neither read the names nor test guesses.
final class SealedNames: Sendable {
  private enum Kind: UInt8 {
    case origin = 1
    case target = 2
    case partition = 3
    case group = 4
    case content = 5
    case nominated = 6
  }

  // An object, so that an empty shelf takes little memory.
  private final class Known: Sendable {
    let key: CacheKey
    let sealed: CacheKey

    init(_ key: CacheKey, _ sealed: CacheKey) {
      self.key = key
      self.sealed = sealed
    }
  }

  private final class Shelf: Sendable {
    let known = Mutex<[Known?]>(Array(repeating: nil, count: SealedNames.shelfSize))
  }

  private static let shelfCount = 16
  private static let shelfSize = 512

  /// Half of a 32-byte digest: without the key, no attacker can search for two names with equal digests.
  static let digestLength = 16

  private let cipher: any CacheCipher
  /// The first part of the target of each response that this cipher sealed.
  let prefix: String
  // The last names used: a hit in memory must not compute digests.
  private let shelves: [Shelf]

  init(cipher: any CacheCipher) {
    self.cipher = cipher
    prefix = SealedTarget.prefix(ofKey: cipher.keyID)
    shelves = (0..<Self.shelfCount).map { _ in Shelf() }
  }

  /// The key below; mode and method class are unchanged.
  func key(_ key: CacheKey) -> CacheKey {
    let shelf = shelves[Int(key.processHash >> 60)]
    let place = Int(truncatingIfNeeded: key.processHash) & (Self.shelfSize - 1)
    let known = shelf.known.withLock { $0[place] }
    if let known, known.key == key { return known.sealed }
    let sealed = CacheKey(
      mode: key.mode, partition: partition(key.partition), methodClass: key.methodClass,
      target: target(key.target),
      contentDigest: key.contentDigest.isEmpty ? [] : digest(.content, key.contentDigest))
    shelf.known.withLock { $0[place] = Known(key, sealed) }
    return sealed
  }

  /// A target below: its origin and the whole target.
  func target(_ target: String) -> String {
    let origin = CacheKey.origin(of: target)
    let next = target.utf8.dropFirst(origin.utf8.count).first
    let separator = next == nil || next == UInt8(ascii: "/") ? "/" : "?"
    return self.origin(origin) + separator + text(.target, Array(target.utf8))
  }

  /// An origin below.
  func origin(_ origin: String) -> String { prefix + text(.origin, Array(origin.utf8)) }

  /// A partition below; the empty partition stays empty.
  func partition(_ name: String) -> String {
    name.isEmpty ? "" : SealedTarget.mark + text(.partition, Array(name.utf8))
  }

  /// The name of a group below.
  func group(_ name: String, of origin: String) -> String {
    var writer = BinaryWriter()
    writer.text(origin)
    writer.text(name)
    return text(.group, writer.output)
  }

  /// A ticket below: the target of the request has another name there.
  func ticket(_ ticket: InvalidationTicket) -> InvalidationTicket {
    guard let target = ticket.requestTarget else { return ticket }
    var below = ticket
    below.requestTarget = self.target(target)
    return below
  }

  /// The nominated fields below.
  func nominated(_ fields: [NominatedField]) -> [NominatedField] {
    guard !fields.isEmpty else { return [] }
    var writer = BinaryWriter()
    for field in fields.sorted(by: { $0.name.canonicalName < $1.name.canonicalName }) {
      writer.text(field.name.canonicalName)
      RecordCodec.write(field.value, to: &writer)
    }
    return [NominatedField(name: .vary, value: .digest(digest(.nominated, writer.output)))]
  }

  private func text(_ kind: Kind, _ bytes: [UInt8]) -> String {
    Base64.encodeURL(digest(kind, bytes))
  }

  private func digest(_ kind: Kind, _ bytes: [UInt8]) -> [UInt8] {
    Array(cipher.digest([kind.rawValue] + bytes).prefix(Self.digestLength))
  }
}
