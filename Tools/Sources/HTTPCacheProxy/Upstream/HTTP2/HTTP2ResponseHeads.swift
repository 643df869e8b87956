import HTTPCacheSemantics
package import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP1
import Synchronization

/// The heads of a response on one stream, and its trailers, as they arrive.
final class HTTP2ResponseHeads: Sendable {
  /// The fields after the body.
  let trailers = StreamTrailers()
  /// The heads that have not been taken, and the number of all that have arrived.
  private let heads = Mutex<(waiting: [HPACKHeaders], count: Int)>(([], 0))

  /// Adds a head.
  ///
  /// - Returns: false if there are more than the interim responses that are allowed, and the final one.
  func add(_ headers: HPACKHeaders) -> Bool {
    heads.withLock { heads in
      heads.count += 1
      guard heads.count <= RequestAttempt.mostInterim + 1 else { return false }
      heads.waiting.append(headers)
      return true
    }
  }

  /// Waits for the next head; nil if the stream ends before. Each head interrupts the stream.
  ///
  /// A result, because Swift 6.3 crashes when it optimises a function that throws here.
  func next(
    on stream: ByteStream, until deadline: NIODeadline
  ) async -> Result<HPACKHeaders?, StreamError> {
    while true {
      // Read before the list of heads: a head that arrives in between has then interrupted the read.
      let epoch = stream.epoch
      let headers = heads.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
      if let headers { return .success(headers) }
      switch await Self.read(from: stream, until: deadline, epoch: epoch) {
      case .success(nil): return .success(nil)
      // NIOHTTP2 refuses DATA before a head: there are bytes only after a head that has been added.
      case .success(let bytes?): stream.unread(bytes)
      // A head that has arrived ends the wait.
      case .failure(.cancelled) where stream.epoch != epoch && !Task.isCancelled: break
      case .failure(let error): return .failure(error)
      }
    }
  }

  private static func read(
    from stream: ByteStream, until deadline: NIODeadline, epoch: Int
  ) async -> Result<ByteBuffer?, StreamError> {
    do throws(StreamError) {
      return .success(try await stream.read(until: deadline, epoch: epoch))
    } catch {
      return .failure(error)
    }
  }
}

/// The trailers of a message over HTTP/2, which come in a frame of their own.
final class StreamTrailers: Sendable {
  private let fields = Mutex(HTTPFields())

  /// The fields that came so far.
  var received: HTTPFields { fields.withLock { $0 } }

  /// - Throws: `ProtocolViolation` for trailers that are too large.
  func set(_ headers: HPACKHeaders, limits: MessageLimits) throws(ProtocolViolation) {
    guard headers.fit(limits) else {
      throw ProtocolViolation(
        "trailers larger than \(limits.headBytes) bytes", status: .requestHeaderFieldsTooLarge)
    }
    var trailers: HTTPFields = [:]
    for (name, value, _) in headers {
      guard let name = HTTPField.Name(name), HTTPField.isValidValue(value),
        trailers.appendBounded(HTTPField(name: name, value: value))
      else { continue }
    }
    let received = FieldHygiene.forwardable(trailers: trailers)
    fields.withLock { $0 = received }
  }
}

extension ResponseHead {
  /// The head of a response over HTTP/2 (RFC 9113 §8.3.2). NIOHTTP2 has checked the names, their order, and the fields
  /// for one connection; the values are checked here.
  ///
  /// - Throws: `ProtocolViolation`.
  init(_ headers: HPACKHeaders, limits: MessageLimits) throws(ProtocolViolation) {
    guard headers.fit(limits) else {
      throw ProtocolViolation("a head larger than \(limits.headBytes) bytes")
    }
    var (code, fields) = (Int?.none, HTTPFields())
    for (name, value, _) in headers {
      if name == ":status" {
        code = value.utf8.count == 3 ? Int(value) : nil
      } else {
        try fields.add(http2: name, value, limits: limits)
      }
    }
    guard let code, (100...999).contains(code) else {
      throw ProtocolViolation("an invalid status code (RFC 9110 §15)")
    }
    // HTTP/2 has no reason phrases; clients of HTTP/1.1 get the usual one.
    status = HTTPResponse.Status(
      code: code, reasonPhrase: HTTPResponseStatus(statusCode: code, reasonPhrase: "").reasonPhrase)
    minorVersion = 1
    self.fields = fields
  }
}

extension HTTPField {
  /// Whether the value has U+FFFD, which NIOHTTP2 puts in the place of octets that are no UTF-8.
  package var hasLostOctets: Bool {
    let replacement: Unicode.Scalar = "\u{FFFD}"
    return value.unicodeScalars.contains(replacement)
  }
}
