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
  let file: AdoptedFile?

  var length: Int64 { file?.length ?? Int64(body.count) }

  /// - Parameter file: has all of the body.
  init(_ head: HTTPResponse, file: AdoptedFile) {
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
  }
}
