public import HTTPCacheSemantics
public import HTTPTypes
import HTTPCacheDisk
import Synchronization

/// The body of a stored response as a file. The file keeps its content when the response is replaced or
/// removed. Its name is removed with this object, or by `close()`.
///
/// Only read the file: it may share its bytes with the cache's own body file. A program that writes into it
/// damages the stored response, which the cache detects by its checksums. To keep the file, copy it.
public final class CachedFile: Sendable {
  /// The path. Its name is random; the extension follows from `Content-Type` and, for encoded bytes, from
  /// `Content-Encoding`.
  public let path: String
  /// The file's length in bytes.
  public let length: Int64
  /// Status and fields of the response, with its `Age`.
  public let head: HTTPResponse
  /// Why the response could be used.
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

  /// Removes the file's name. Calling it again does nothing.
  public func close() {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    handout.remove(name)
  }
}
