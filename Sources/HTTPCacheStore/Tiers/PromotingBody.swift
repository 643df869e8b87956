import Synchronization

/// A stored body that gives its bytes to a promotion when it is opened or read.
final class PromotingBody: StoredBody {
  private let base: any StoredBody
  private let index: Int
  private let promotion: Promotion

  init(_ base: any StoredBody, index: Int, promotion: Promotion) {
    self.base = base
    self.index = index
    self.promotion = promotion
  }

  func open() throws(CacheError) -> any BodyReader {
    let reader = try base.open()
    if let bytes = reader.bytesInMemory {
      promotion.deliver(bytes, at: index)
      return reader
    }
    return PromotingReader(reader, index: index, promotion: promotion)
  }
}

/// An open body that keeps the bytes that are read from its start without a gap, and gives them to a
/// promotion at the end.
final class PromotingReader: BodyReader {
  private let base: any BodyReader
  private let index: Int
  private let promotion: Promotion
  // nil once the bytes were given, or cannot be complete any more.
  private let body: Mutex<GrowingBody?>

  init(_ base: any BodyReader, index: Int, promotion: Promotion) {
    self.base = base
    self.index = index
    self.promotion = promotion
    body = Mutex(GrowingBody(announced: base.length))
  }

  var length: Int64? { base.length }
  var availableRanges: [Range<Int64>] { base.availableRanges }
  var bytesInMemory: BodyBytes? { base.bytesInMemory }
  var fileRegion: FileRegion? { base.fileRegion }
  func isVerified(_ range: Range<Int64>) -> Bool { base.isVerified(range) }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    let bytes = try await base.read(range)
    if let whole = keep(bytes, from: range.lowerBound) { promotion.deliver(whole, at: index) }
    return bytes
  }

  func clone(to path: String) async throws(CacheError) { try await base.clone(to: path) }

  // Returns the whole body if these were its last bytes.
  private func keep(_ bytes: BodyBytes, from start: Int64) -> BodyBytes? {
    guard let length = base.length else { return nil }
    if start == 0, Int64(bytes.count) == length {
      return body.withLock { $0.take() } == nil ? nil : bytes
    }
    let complete: GrowingBody? = body.withLock { kept in
      guard let body = kept, body.count == start else { return nil }
      body.append(bytes)
      guard body.count == length else { return nil }
      return kept.take()
    }
    return complete?.finish()
  }
}
