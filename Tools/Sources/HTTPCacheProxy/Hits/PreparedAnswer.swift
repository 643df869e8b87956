import HTTPCaching
import NIOCore

/// The bytes of an answer from memory, for all plain requests with one key in one second.
final class PreparedAnswer {
  /// A hit with its answer.
  struct Content {
    let hit: MemoryHit
    /// The head and the body as the client gets them.
    let bytes: ByteBuffer
    /// The request target, for the access log.
    let target: String
    let status: Int
    /// One word for the access log.
    let outcome: String
  }

  let key: [UInt8]
  /// The second for which the answer was prepared.
  let time: Timestamp
  /// Nil if the request is answered the general way.
  let content: Content?

  init(key: [UInt8], time: Timestamp, content: Content?) {
    self.key = key
    self.time = time
    self.content = content
  }

  /// The bytes in memory that the answer takes.
  var size: Int { key.count + (content.map { $0.bytes.storageCapacity + $0.target.utf8.count } ?? 0) + 256 }
}
