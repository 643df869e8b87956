import HTTPCacheStore
import HTTPTypes
import Synchronization

/// A body whose first bytes were already read: gives those bytes again, then the rest.
final class ResumedSource: BodySource {
  private let pieces: Mutex<ArraySlice<BodyBytes>>
  private let rest: MessageBody

  init(_ pieces: [BodyBytes], rest: MessageBody) {
    self.pieces = Mutex(pieces[...])
    self.rest = rest
  }

  var length: Int64? { rest.length }
  var trailers: HTTPFields { rest.trailers }

  func next() async throws -> BodyBytes? {
    if let piece = pieces.withLock({ $0.popFirst() }) { return piece }
    return try await rest.source.next()
  }

  func cancel() {
    pieces.withLock { $0 = [] }
    rest.source.cancel()
  }
}
