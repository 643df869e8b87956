import HTTPCaching
import HTTPTypes
import Synchronization

/// The content of a request, whose progress the delegates are told.
final class CountedBody: BodySource {
  private let base: any BodySource
  private let calls: TaskCalls
  private let sent = Mutex<Int64>(0)

  init(_ body: MessageBody, _ calls: TaskCalls) {
    base = body.source
    self.calls = calls
  }

  var length: Int64? { base.length }
  var trailers: HTTPFields { base.trailers }

  func next() async throws -> BodyBytes? {
    guard let bytes = try await base.next() else { return nil }
    let total = sent.withLock { sent in
      sent += Int64(bytes.count)
      return sent
    }
    calls.sent(Int64(bytes.count), total: total, of: length)
    return bytes
  }

  func cancel() { base.cancel() }
}
