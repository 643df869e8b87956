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
    /// The longest time until a connection can be used: name resolution, TCP, TLS and credentials.
    var connecting = RedisLimits().connection
    /// The longest time in which a server tells the layout of its cluster.
    var layout = RedisLimits().layout

    /// The first commands of each connection.
    var greeting: [RedisCommand] {
      var commands: [RedisCommand] = []
      if let password {
        commands.append(
          username.map { RedisCommand("AUTH", .text($0), .text(password)) }
            ?? RedisCommand("AUTH", .text(password)))
      }
      if database != 0 { commands.append(RedisCommand("SELECT", .number(database))) }
      return commands
    }
  }
#endif
