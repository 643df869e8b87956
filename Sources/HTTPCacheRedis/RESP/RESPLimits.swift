/// The sizes that a decoder accepts. A reply beyond a limit ends the connection: no command has such a reply.
struct RESPLimits: Sendable, Hashable {
  /// The longest line in bytes: a simple string, an error, a number or a length.
  var line = 8_192
  /// The longest bulk string in bytes.
  var bulk = 4 << 20
  /// The bytes of all strings of one reply, errors included.
  var bytes = 64 << 20
  /// The values of one reply, those in arrays included.
  var values = 400_000
  /// The arrays around a value.
  var depth = 8
}
