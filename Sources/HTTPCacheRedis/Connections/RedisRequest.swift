#if Redis
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
