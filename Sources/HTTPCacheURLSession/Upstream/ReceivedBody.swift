import HTTPCaching
import HTTPTypes

/// The body of the origin's response. Foundation delivers no trailers.
final class ReceivedBody: BodySource {
  private let exchange: FoundationRequest
  let length: Int64?

  init(_ exchange: FoundationRequest) {
    self.exchange = exchange
    length = exchange.length
  }

  deinit { exchange.cancel() }

  var trailers: HTTPFields { [:] }

  func next() async throws -> BodyBytes? { try await exchange.next() }

  func cancel() { exchange.cancel() }
}
