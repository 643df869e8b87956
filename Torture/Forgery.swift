import HTTPCacheDisk
import HTTPCacheFaults
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes

/// A change to an encrypted response by an attacker without the key, with valid checksums.
enum Forgery: String, CaseIterable {
  case flipChunk, cutChunk, cutAtChunk, addBytes, swapChunks, repeatChunk, otherBody
  case flipRecord, cutRecord, recordOfOther, allOfOther, noEnd, endOfOther, pinned, groups

  private static let slot = 65_536

  /// Changes a sealed response.
  ///
  /// - Returns: false if this change is not possible for the response.
  func apply(to forged: inout Forged, other: Forged, _ generator: inout SeededGenerator) -> Bool {
    switch self {
    case .flipChunk: Damage.flip(&forged.body, &generator)
    case .cutChunk: forged.body.removeLast(1 + generator.below(min(forged.body.count, 40)))
    case .cutAtChunk:
      let count = forged.body.count / Self.slot * Self.slot
      guard count > 0, count < forged.body.count else { return false }
      forged.body.removeLast(forged.body.count - count)
    case .addBytes: forged.body += Damage.noise(1 + generator.below(100), &generator)
    case .swapChunks, .repeatChunk:
      guard forged.body.count >= 2 * Self.slot else { return false }
      let (first, second) = (0..<Self.slot, Self.slot..<2 * Self.slot)
      let copy = forged.body
      forged.body.replaceSubrange(first, with: copy[second])
      if self == .swapChunks { forged.body.replaceSubrange(second, with: copy[first]) }
    case .otherBody: forged.body = other.body
    case .flipRecord: Damage.flip(&forged.userInfo, &generator)
    case .cutRecord: forged.userInfo.removeLast(1 + generator.below(forged.userInfo.count))
    case .recordOfOther: (forged.userInfo, forged.trailers) = (other.userInfo, other.trailers)
    case .allOfOther:
      (forged.userInfo, forged.trailers, forged.body) = (other.userInfo, other.trailers, other.body)
    case .noEnd: forged.trailers = [:]
    case .endOfOther: forged.trailers = other.trailers
    case .pinned: forged.isPinned.toggle()
    case .groups: forged.groups = forged.groups.isEmpty ? ["g"] : []
    }
    return true
  }
}

/// The parts of a sealed response that can be changed.
struct Forged {
  private let record: CacheRecord
  var body: [UInt8]
  var userInfo: [UInt8]
  var trailers: HTTPFields
  var groups: [String]
  var isPinned: Bool

  init(_ record: CacheRecord, _ body: [UInt8]) {
    (self.record, self.body) = (record, body)
    (userInfo, trailers) = (record.userInfo, record.response.trailers)
    (groups, isPinned) = (record.groups, record.isPinned)
  }

  /// Writes the changed response in place of the original.
  func store(in store: any CacheStore) async throws {
    let forged = CacheRecord(
      key: record.key, response: record.response, bodyLength: Int64(body.count), groups: groups,
      userInfo: userInfo, isPinned: isPinned)
    let writer = try await store.write(forged, variantLimit: 8)
    try await writer.append(BodyBytes(body))
    try await writer.commit(trailers: trailers)
  }
}

extension DamageCase {
  /// The result of a forged response.
  mutating func forged(_ forgery: Forgery) async throws -> String {
    let opened = try TortureStore(directory, isEncrypted: true)
    let entries = try await opened.store.entries(.all, after: nil, limit: 1_000).entries
      .filter { $0.record.isComplete }
    guard entries.count > 1 else { return "nothing" }
    let place = generator.below(entries.count)
    let otherPlace = (place + 1 + generator.below(entries.count - 1)) % entries.count
    guard let version = SampleVersion(entries[place].record),
      var one = try await below(entries[place].record, opened),
      let other = try await below(entries[otherPlace].record, opened),
      forgery.apply(to: &one, other: other, &generator)
    else { return "nothing" }
    try await one.store(in: opened.disk)
    for variant in try opened.store.read(SampleVersion.key(version.key)) {
      do { _ = try await WorkloadAudit.check(variant, key: version.key) } catch is CacheError { continue }
      return "undetected"
    }
    guard !opened.damage.all.isEmpty else { return "untold" }
    await opened.store.flush()
    _ = try await WorkloadAudit.run(on: opened.store, keys: DamageWorker.keys)
    try await goOn(opened)
    return "found"
  }

  private func below(_ record: CacheRecord, _ opened: TortureStore) async throws -> Forged? {
    guard let below = try await opened.entry(of: record)?.record,
      let variant = try opened.disk.read(below.key).first(where: { $0.record.sequence == below.sequence }),
      let length = below.bodyLength
    else { return nil }
    return Forged(below, try await variant.body.open().read(0..<length).array)
  }
}
