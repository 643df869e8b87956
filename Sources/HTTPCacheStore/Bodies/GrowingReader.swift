/// Reads a body in memory while it grows.
final class GrowingReader: BodyReader {
  private let body: GrowingBody
  private let slices: BodySlices
  private let announced: Int64?

  init(_ body: GrowingBody, record: CacheRecord) {
    self.body = body
    slices = BodySlices(of: record)
    announced = record.bodyLength
  }

  var length: Int64? { body.isComplete && slices.ranges == nil ? body.count : announced }

  var availableRanges: [Range<Int64>] { slices.available(count: body.count) }

  var bytesInMemory: BodyBytes? {
    guard slices.ranges == nil, body.isComplete else { return nil }
    return body.read(0..<Int(clamping: body.count))
  }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    body.read(slices.place(of: range, count: body.count)) ?? BodyBytes()
  }

  func clone(to path: String) async throws(CacheError) {
    guard let bytes = bytesInMemory else {
      throw CacheError(.unavailable, "the body is not complete, so it cannot be cloned")
    }
    try await NewFile.make(bytes, at: path)
  }
}
