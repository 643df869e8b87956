import HTTPCacheSemantics
import HTTPTypes
import NIOCore
import NIOHPACK

/// How a response tells where its content ends (RFC 9112 §6.3).
enum ResponseCoding {
  /// There is no content.
  case none
  case length(Int64)
  /// In chunks, or in frames of HTTP/2.
  case pieces
  case untilClose

  /// Writes the head of a response over HTTP/1.1.
  ///
  /// - Parameter isReusable: whether the connection stays open.
  func writeHead(_ head: HTTPResponse, isReusable: Bool, to buffer: inout ByteBuffer) {
    buffer.writeStatusLine(head.status)
    let fields = head.headerFields.forwardable(of: head.status)
    let keepsLength = keepsLength(of: head)
    buffer.writeFields(fields) { keepsLength || $0 != .contentLength }
    // A field of one connection is named in Connection (RFC 9110 §7.8).
    if fields.firstIndex(of: .upgrade) != nil { buffer.writeField("Connection", "Upgrade") }
    switch self {
    case .length(let length): buffer.writeField("Content-Length", String(length))
    case .pieces: buffer.writeField("Transfer-Encoding", "chunked")
    case .none, .untilClose: break
    }
    if !isReusable { buffer.writeField("Connection", "close") }
    buffer.writeStaticString("\r\n")
  }

  /// The head of a response over HTTP/2.
  func headers(of head: HTTPResponse) -> HPACKHeaders {
    var fields = head.headerFields.forwardable(of: head.status)
    if !keepsLength(of: head) { fields.remove(.contentLength) }
    if case .length(let length) = self { fields[.contentLength] = String(length) }
    // A field of one connection (RFC 9113 §8.2.2).
    fields.remove(.upgrade)
    return HPACKHeaders(head.status, fields)
  }

  /// Whether the length that the head tells stays: it is that of content that is not sent.
  private func keepsLength(of head: HTTPResponse) -> Bool {
    if case .none = self { head.status.code != 204 } else { false }
  }
}
