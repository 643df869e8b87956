import NIOHTTP2

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
