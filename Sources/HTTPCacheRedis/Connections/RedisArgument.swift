#if Redis
  /// An argument of a command.
  struct RedisArgument: Sendable, ExpressibleByStringInterpolation {
    let bytes: [UInt8]

    init(stringLiteral text: String) { bytes = Array(text.utf8) }

    static func bytes(_ bytes: [UInt8]) -> RedisArgument { RedisArgument(bytes: bytes) }
    static func text(_ text: String) -> RedisArgument { RedisArgument(stringLiteral: text) }
    static func number(_ number: some BinaryInteger) -> RedisArgument {
      RedisArgument(stringLiteral: "\(number)")
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }
  }

  /// The name of a command, then its arguments.
  typealias RedisCommand = [RedisArgument]
#endif
