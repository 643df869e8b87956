#if Redis
  /// A command with its arguments.
  struct RedisCommand: Sendable {
    let arguments: [[UInt8]]

    init(_ arguments: RedisArgument...) { self.init(arguments) }

    init(_ arguments: [RedisArgument]) { self.arguments = arguments.map(\.bytes) }
  }

  /// Commands for one key, or for keys of one slot.
  struct RedisRequest: Sendable {
    let key: [UInt8]
    let commands: [RedisCommand]

    init(_ key: [UInt8], _ commands: [RedisCommand]) {
      self.key = key
      self.commands = commands
    }
  }
#endif
