import HTTPCacheFiles
package import HTTPCacheStore
package import HTTPTypes

/// A response that the caller fetched outside the cache and asks to store.
package struct AdoptedResponse: Sendable {
  let head: HTTPResponse
  let body: BodyBytes
  let isDecoded: Bool
  let userInfo: [UInt8]
  let isMemoryOnly: Bool
  /// The file with the body; nil if `body` has it.
  let file: CacheFile?
  /// The length of the body in bytes; that of a file when it was opened.
  let length: Int64

  /// - Parameter path: a file with all of the body.
  /// - Throws: `CacheError.io` if there is no readable regular file.
  init(_ head: HTTPResponse, file path: String) throws(CacheError) {
    let file = try CacheFile(path: path)
    do throws(CacheError) { length = try file.length() } catch {
      throw CacheError(.io, "\(path): \(error.message)")
    }
    self.head = head
    self.file = file
    (body, isDecoded, userInfo, isMemoryOnly) = (BodyBytes(), false, [], false)
  }

  /// - Parameters:
  ///   - body: all of it, or the part that `Content-Range` describes.
  ///   - isDecoded: whether a content coding was removed from the bytes.
  package init(
    _ head: HTTPResponse, body: BodyBytes, isDecoded: Bool, userInfo: [UInt8], isMemoryOnly: Bool
  ) {
    self.head = head
    self.body = body
    self.isDecoded = isDecoded
    self.userInfo = userInfo
    self.isMemoryOnly = isMemoryOnly
    file = nil
    length = Int64(body.count)
  }
}
