import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The state of a transfer, without I/O: how much of the origin's body has arrived, the position of each
/// reader, and the last bytes, kept for readers that keep up.
struct TransferState: Sendable {
  /// The phase of a transfer.
  enum Phase: Sendable {
    case running
    case finished(HTTPFields)
    case failed(any Error)
  }

  /// The next action of a reader.
  enum ReadAction: Sendable {
    /// Take these bytes.
    case take(BodyBytes)
    /// Read this range from the store.
    case readStored(Range<Int64>)
    case wait
    case end
    case fail(any Error)
  }

  /// The number of bytes that the fetch may be ahead of its fastest reader.
  static let window: Int64 = 1 << 20
  /// Bytes kept for slow readers if the store takes no more; beyond that the fetch waits for them for a while.
  static let keptWithoutStore: Int64 = 8 << 20
  /// Bytes per read from the store.
  private static let step: Int64 = 256 << 10
  /// A transfer without readers goes on if at most this number of bytes is left.
  private static let littleLeft: Int64 = 64 << 10

  let extent: TransferExtent
  private(set) var phase = Phase.running
  /// The position in the representation up to which octets have arrived.
  private(set) var received: Int64
  /// From this position on the store has no octets, because it failed.
  private(set) var storedEnd: Int64?
  /// No reader is left, and the rest is not worth fetching.
  private(set) var isAbandoned = false
  private var recent: [(start: Int64, bytes: BodyBytes)] = []
  private var recentBytes: Int64 = 0
  private var positions: [Int: Int64] = [:]
  private var ends: [Int: Int64] = [:]
  private var nextReader = 0
  private var tooSlow: Set<Int> = []

  init(_ extent: TransferExtent) {
    self.extent = extent
    received = extent.start
  }

  var isRunning: Bool { if case .running = phase { true } else { false } }
  var hasReaders: Bool { !positions.isEmpty }

  /// Whether the fetch has to wait for its readers. A resumed transfer never waits for its readers: they
  /// first read stored bytes, and the origin would time out.
  var isAhead: Bool {
    if isHeldBack { return true }
    guard !positions.isEmpty, !continuesStored else { return false }
    return received - (positions.values.max() ?? 0) >= Self.window
  }

  /// Whether the fetch has to wait for its slowest reader, because only this transfer has the bytes that it
  /// needs.
  var isHeldBack: Bool { positions.values.contains { isFarBehind($0) } }

  private func isFarBehind(_ position: Int64) -> Bool {
    guard let storedEnd else { return false }
    return received - max(position, storedEnd) >= Self.keptWithoutStore
  }

  /// Drops the readers for which the fetch has waited long enough.
  mutating func dropSlowReaders() {
    for (reader, position) in positions where isFarBehind(position) {
      positions[reader] = nil
      tooSlow.insert(reader)
    }
    trim()
  }

  /// Whether the fetch goes on without readers: little is left (10 % or 64 KiB).
  var isWorthFinishing: Bool {
    guard let end = extent.end, storedEnd == nil else { return false }
    let left = end - received
    return left <= Self.littleLeft || left <= end / 10
  }

  /// Whether readers may read octets that were stored before.
  private var continuesStored: Bool { extent.readableEnd != nil }

  /// Adds a reader; nil if its first byte is no longer available.
  ///
  /// - Parameters:
  ///   - start: where it begins; nil for the first byte that arrives.
  ///   - end: where it stops; nil for the end.
  mutating func addReader(from start: Int64? = nil, to end: Int64? = nil) -> Int? {
    let start = start ?? extent.start
    if isAbandoned { return nil }
    if storedEnd != nil, recent.first?.start ?? received > start { return nil }
    if start < extent.start, !continuesStored { return nil }
    if case .failed = phase { return nil }
    nextReader += 1
    positions[nextReader] = start
    ends[nextReader] = end
    return nextReader
  }

  mutating func abandon() { isAbandoned = true }

  mutating func removeReader(_ reader: Int) {
    positions[reader] = nil
    ends[reader] = nil
    trim()
  }

  mutating func read(_ reader: Int) -> ReadAction {
    guard let position = positions[reader] else { return lost(reader) }
    let end = ends[reader] ?? .max
    if position >= end { return .end }
    if position < received {
      if let chunk = recent.last(where: { $0.start <= position }) {
        let bytes = chunk.bytes.dropFirst(Int(position - chunk.start))
          .prefix(Int(clamping: end - position))
        if !bytes.isEmpty {
          advance(reader, by: bytes.count)
          return .take(bytes)
        }
      }
      let stop = recent.first { $0.start > position }?.start ?? received
      return .readStored(position..<min(stop, end, position.saturatingAdd(Self.step)))
    }
    switch phase {
    case .running: return .wait
    case .finished: return .end
    case .failed(let error): return .fail(error)
    }
  }

  /// Whether a reader has nothing to read now.
  func mustWait(_ reader: Int) -> Bool {
    guard let position = positions[reader] else { return false }
    return isRunning && position >= received && position < ends[reader] ?? .max
  }

  /// Whether a reader that does not wait has bytes to read, or the end, and no failure.
  func isReadable(_ reader: Int) -> Bool {
    guard let position = positions[reader] else { return false }
    if case .failed = phase { return position < received }
    return true
  }

  /// Whether a reader needs bytes that only the store still has.
  var isAnyoneBehind: Bool {
    let start = recent.first?.start ?? received
    if let stored = extent.readableEnd, stored > received { return true }
    return positions.values.contains { $0 < start }
  }

  mutating func advance(_ reader: Int, by count: Int) {
    guard let position = positions[reader] else { return }
    positions[reader] = position + Int64(count)
    trim()
  }

  private func lost(_ reader: Int) -> ReadAction {
    tooSlow.contains(reader)
      ? .fail(CacheError(.io, "the store failed, and this reader is too slow to go on without it"))
      : .end
  }

  /// Adds bytes that arrived and are stored, unless the store has failed.
  mutating func append(_ bytes: BodyBytes) {
    recent.append((received, bytes))
    recentBytes += Int64(bytes.count)
    received = received.saturatingAdd(Int64(bytes.count))
    trim()
  }

  /// The store takes no more bytes: later bytes are kept until every reader has them.
  ///
  /// - Parameter isReadable: whether the stored bytes can still be read; else the kept bytes stay too.
  mutating func storeFailed(isReadable: Bool = true) {
    let end = isReadable ? received : recent.first?.start ?? received
    storedEnd = min(storedEnd ?? .max, end)
  }

  mutating func end(_ phase: Phase) {
    guard isRunning else { return }
    self.phase = phase
    if case .finished = phase, let stored = extent.readableEnd { received = max(received, stored) }
  }

  private mutating func trim() {
    let slowest = positions.values.min() ?? received
    while let first = recent.first {
      let end = first.start + Int64(first.bytes.count)
      let isStored = end <= storedEnd ?? .max
      guard end <= slowest || (isStored && recentBytes > Self.window) else { return }
      recentBytes -= Int64(first.bytes.count)
      recent.removeFirst()
    }
  }
}

/// The octets of a representation that a transfer brings, and the stored octets around them that its readers
/// can read through the writer.
struct TransferExtent: Sendable {
  /// Where the origin's octets begin. Earlier octets are stored, or not needed.
  var start: Int64 = 0
  /// Where they end, if announced.
  var end: Int64?
  /// The last possible end.
  var limit: Int64?
  /// The end of the stored octets that follow, readable once the transfer has filled the gap.
  var readableEnd: Int64?

  /// A whole body of this length.
  init(length: Int64?) { end = length }

  /// A part, with `length` octets according to the framing of the message.
  init(_ range: Range<Int64>, length: Int64?, readableEnd: Int64? = nil) {
    start = range.lowerBound
    end = length.map { range.lowerBound + min($0, range.upperBound - range.lowerBound) }
    limit = range.upperBound
    self.readableEnd = readableEnd
  }
}
