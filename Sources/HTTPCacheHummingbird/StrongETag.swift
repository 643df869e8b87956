#if Hummingbird
  import Crypto
  import HTTPCaching
  import NIOCore

  /// A strong entity tag: it differs for different bytes, and for different kinds of content (RFC 9110 §8.8.1).
  enum StrongETag {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Makes the tag of a body.
    ///
    /// - Parameter fields: the fields of the response; content type and coding count.
    static func make(of body: ByteBuffer, described fields: HTTPFields) -> String {
      var hash = SHA256()
      for name in [HTTPField.Name.contentType, .contentEncoding, .contentLanguage] {
        for value in fields[values: name] { hash.update(data: Array(value.utf8)) }
        hash.update(data: [0])
      }
      body.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
      let text = hash.finalize().prefix(16).flatMap {
        [digits[Int($0 >> 4)], digits[Int($0 & 15)]]
      }
      return "\"" + String(decoding: text, as: UTF8.self) + "\""
    }
  }
#endif
