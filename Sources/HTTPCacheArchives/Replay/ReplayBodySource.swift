import HTTPCacheStore
import HTTPCaching
import HTTPTypes
import Synchronization

/// The body of a recorded response.
final class ReplayBodySource: BodySource {
  private let reader: Mutex<HARText.Reader?>
  let length: Int64?

  init(_ text: HARText, length: Int64?) {
    reader = Mutex(text.reader())
    self.length = length
  }

  /// - Throws: `UpstreamError` if the recording does not have the bytes any more.
  func next() async throws -> BodyBytes? {
    do {
      return try reader.withLock { try $0?.next() }
    } catch {
      throw UpstreamError(.protocol, "the recording cannot be read", cause: error)
    }
  }

  var trailers: HTTPFields { [:] }

  func cancel() { reader.withLock { $0 = nil } }
}
