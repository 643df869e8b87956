public import HTTPCacheSemantics
public import HTTPTypes
import HTTPCacheDisk
import Synchronization

/// The body of a stored response as a file. The file keeps its content when the response is replaced or
/// removed. Its name is removed with this object, or by `close()`. Objects for one stored response that exist at the
/// same time share a file, whose name is removed with the last one.
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

  private let name: Mutex<HandedOutName?>

  init(_ name: HandedOutName, length: Int64, answer: CacheResponse) {
    self.name = Mutex(name)
    self.length = length
    path = name.path
    head = answer.head
    outcome = answer.outcome
  }

  /// Removes the file's name, unless another object has it. Calling it again does nothing.
  public func close() {
    // Released outside of the lock.
    _ = name.withLock { $0.take() }
  }
}

/// The name of a file that was handed out. It is removed with this object.
final class HandedOutName: Sendable {
  let path: String
  private let name: String
  private let handout: FileHandout

  init(_ name: String, in handout: FileHandout) {
    self.name = name
    self.handout = handout
    path = handout.path(of: name)
  }

  deinit { handout.remove(name) }
}
