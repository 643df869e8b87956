#if Redis
  import NIOCore
  import NIOSSL

  /// The properties that all connections of a tier have in common.
  struct RedisSettings: Sendable {
    /// The most bytes of commands of a connection that were not answered.
    static let mostBytes = 16 << 20

    let username: String?
    let password: String?
    let database: Int
    /// Nil for connections without TLS.
    let tls: NIOSSLContext?
    let group: any EventLoopGroup
    var limits = RedisLimits()

    /// The first commands of each connection.
    var greeting: [RedisCommand] {
      var commands: [RedisCommand] = []
      if let password {
        let user: RedisCommand = username.map { [.text($0)] } ?? []
        commands.append(["AUTH"] + user + [.text(password)])
      }
      if database != 0 { commands.append(["SELECT", .number(database)]) }
      return commands
    }
  }
#endif
