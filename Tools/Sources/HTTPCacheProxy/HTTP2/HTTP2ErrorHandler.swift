import Logging
import NIOCore
import NIOHTTP2

/// Closes a connection after an error that concerns all its streams. NIOHTTP2 has sent the reason before. A malformed
/// request ends only its own stream (RFC 9113 §8.1.1): a proxy in front sends the requests of many users over one
/// connection.
final class HTTP2ErrorHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame

  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let client = context.channel.remoteAddress?.ipAddress ?? "a client"
    if error.isOfOneStream { return logger.debug("HTTP/2 stream of \(client) reset: \(error)") }
    logger.info("HTTP/2 connection of \(client) closed: \(error)")
    context.close(promise: nil)
  }
}

extension Error {
  /// Whether an error of a connection concerns one stream, which NIOHTTP2 has reset: a malformed message is an error
  /// of its stream (RFC 9113 §8.1.1), and other streams of the connection go on.
  var isOfOneStream: Bool {
    switch self {
    case is NIOHTTP2Errors.StreamError,
      is NIOHTTP2Errors.ContentLengthViolated, is NIOHTTP2Errors.ContentLengthHeadersMismatch,
      is NIOHTTP2Errors.ContentLengthHeaderNegative, is NIOHTTP2Errors.ContentLengthHeaderMalformedValue,
      is NIOHTTP2Errors.EmptyPathHeader,
      is NIOHTTP2Errors.MissingPseudoHeader, is NIOHTTP2Errors.DuplicatePseudoHeader,
      is NIOHTTP2Errors.PseudoHeaderAfterRegularHeader, is NIOHTTP2Errors.UnknownPseudoHeader,
      is NIOHTTP2Errors.UnsupportedPseudoHeader, is NIOHTTP2Errors.InvalidPseudoHeaders,
      is NIOHTTP2Errors.InvalidPseudoHeaderValue, is NIOHTTP2Errors.InvalidStatusValue,
      is NIOHTTP2Errors.InvalidHTTP2HeaderFieldName, is NIOHTTP2Errors.InvalidHTTP2HeaderFieldValue,
      is NIOHTTP2Errors.ForbiddenHeaderField, is NIOHTTP2Errors.TrailersWithoutEndStream:
      true
    default: false
    }
  }
}
