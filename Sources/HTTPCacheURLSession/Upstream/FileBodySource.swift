import HTTPCaching
import HTTPTypes
import Synchronization

/// The content of a request from a file.
final class FileBodySource: BodySource {
  private static let step = 256 << 10

  let url: URL
  let length: Int64?
  private let handle: FileHandle
  private let isCancelled = Mutex(false)

  /// - Throws: `CocoaError` if the file does not exist or cannot be read.
  init(_ url: URL) throws {
    self.url = url
    handle = try FileHandle(forReadingFrom: url)
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    length = (attributes[.size] as? NSNumber)?.int64Value
  }

  deinit { try? handle.close() }

  var trailers: HTTPFields { [:] }

  func next() async throws -> BodyBytes? {
    if isCancelled.withLock({ $0 }) { throw CancellationError() }
    guard let data = try handle.read(upToCount: Self.step), !data.isEmpty else { return nil }
    return BodyBytes(data)
  }

  func cancel() { isCancelled.withLock { $0 = true } }
}
