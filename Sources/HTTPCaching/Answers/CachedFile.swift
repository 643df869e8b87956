public import HTTPCacheSemantics
public import HTTPTypes
import HTTPCacheDisk
import Synchronization

/// The body of a stored response as a file, as long as it is held: it stays what it is though the
/// response is replaced or removed, and its name goes with this object or when it is closed.
///
/// The file is for reading. It may be the one that the cache itself reads, so whoever writes into it
/// damages what is stored, which the cache finds out by its checksums. To keep it, copy it.
public final class CachedFile: Sendable {
  /// Where it is. The name is random; its extension follows from `Content-Type`, and `Content-Encoding`
  /// if the bytes have one.
  public let path: String
  /// Its length in bytes.
  public let length: Int64
  /// Status and fields of the response, with its `Age`.
  public let head: HTTPResponse
  /// What allowed its use.
  public let outcome: CacheOutcome

  private let name: String
  private let handout: FileHandout
  private let isClosed = Atomic<Bool>(false)

  init(_ name: String, in handout: FileHandout, length: Int64, answer: CacheResponse) {
    self.name = name
    self.handout = handout
    self.length = length
    path = handout.path(of: name)
    head = answer.head
    outcome = answer.outcome
  }

  deinit { close() }

  /// Takes the file's name away; calling it again does nothing.
  public func close() {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    handout.remove(name)
  }
}
