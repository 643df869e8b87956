/// The forms of a message that are taken.
enum MessageForm: Sendable {
  /// The forms of a request: none that two readers may read in two ways. Up to four empty lines before the request line
  /// are skipped (RFC 9112 §2.2).
  case request
  /// The forms of a response: also white space between a name and its colon, which goes (RFC 9112 §5.1).
  case response
  /// The forms of a response that a user agent takes: also lines that end in LF alone, folded lines, control characters
  /// in values.
  case lenient
}
