import HTTPCaching
import HTTPTypes

/// The body of the origin's response. Foundation delivers no trailers.
final class ReceivedBody: BodySource {
  private let request: FoundationRequest
  let length: Int64?

  init(_ request: FoundationRequest) {
    self.request = request
    length = request.length
  }

  deinit { request.cancel() }

  var trailers: HTTPFields { [:] }

  func next() async throws -> BodyBytes? { try await request.next() }

  func cancel() { request.cancel() }
}
