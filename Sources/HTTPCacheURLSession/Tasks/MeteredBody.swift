import HTTPCaching
import HTTPTypes

/// A body whose meter counts what is read.
final class MeteredBody: BodySource {
  private let base: any BodySource
  private let meter: LoadMeter
  private let endsRequest: Bool

  /// - Parameter endsRequest: whether the request ends with this body; otherwise the caller finishes the meter.
  init(_ body: MessageBody, _ meter: LoadMeter, endsRequest: Bool) {
    base = body.source
    self.meter = meter
    self.endsRequest = endsRequest
  }

  var length: Int64? { base.length }
  var trailers: HTTPFields { base.trailers }

  func next() async throws -> BodyBytes? {
    do {
      if let bytes = try await base.next() {
        meter.received(bytes.count)
        return bytes
      }
    } catch {
      if endsRequest { meter.finish() }
      throw error
    }
    if endsRequest { meter.finish() }
    return nil
  }

  func cancel() {
    base.cancel()
    if endsRequest { meter.finish() }
  }
}
