import HTTPCaching
import HTTPTypes
import NIOCore
import NIOHPACK

/// The bytes of an answer from memory, for all plain requests with one key in one second.
final class PreparedAnswer {
  /// A hit with its answer.
  struct Content {
    let hit: MemoryHit
    /// The head for HTTP/2; nil for HTTP/1.1.
    let headers: HPACKHeaders?
    /// The head and the body as the client gets them; for HTTP/2 the body alone.
    let bytes: ByteBuffer
    /// How long the client may take nothing of it; nil is the server's limit.
    let silence: TimeAmount?
    /// The request, for the access log.
    let method: HTTPRequest.Method
    /// The host that was asked for.
    let host: String
    let target: String
    let status: Int
    /// One word for the access log.
    let outcome: String
    /// Whether the connection ends after the answer, as the client has asked.
    let isLast: Bool
  }

  let key: [UInt8]
  /// The second for which the answer was prepared.
  let time: Timestamp
  /// Nil if the request is answered on the slow path.
  let content: Content?

  init(key: [UInt8], time: Timestamp, content: Content?) {
    self.key = key
    self.time = time
    self.content = content
  }

  /// The bytes in memory that the answer takes.
  var size: Int {
    guard let content else { return key.count + 256 }
    let fields = content.headers?.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 } ?? 0
    // The body of several ranges is made for the answer; others are parts of the stored body.
    let body = content.status == HTTPResponse.Status.partialContent.code ? content.hit.body.count : 0
    return key.count + content.bytes.storageCapacity + body + content.target.utf8.count + fields + 256
  }
}
