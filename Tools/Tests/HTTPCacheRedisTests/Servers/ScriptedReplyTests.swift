import HTTPCaching
import NIOPosix
import ServerTesting
import Testing

@testable import HTTPCacheRedis

/// Replies that no server gives on request.
@Suite(.timeLimit(.minutes(10))) struct ScriptedReplyTests {
  private static let time = "*2\r\n$10\r\n1700000000\r\n$1\r\n7\r\n"

  private func kind(_ tier: RedisTier) async -> SharedTierError.Kind? {
    await tierError { _ = try await tier.find([Sample.key()]) }?.kind
  }

  /// Answers `TIME` and the question for the cluster, and everything else with a text.
  private func server(_ answer: @escaping @Sendable ([String]) -> ScriptedServer.Answer) async throws
    -> ScriptedServer
  {
    try await ScriptedServer { words, _ in
      switch words[0] {
      case "CLUSTER": .bytes("-ERR This instance has cluster support disabled\r\n")
      case "TIME": .bytes(Self.time)
      default: answer(words)
      }
    }
  }

  @Test("replies that come byte by byte are read")
  func slowly() async throws {
    let server = try await ScriptedServer { words, _ in
      words[0] == "TIME" ? .slowly(Self.time) : .slowly("*0\r\n")
    }
    let tier = try server.tier()
    let finding = try await tier.find([Sample.key()])
    #expect(finding.now == 1_700_000_000_000 && finding.variants.map(\.count) == [0])
  }

  @Test(
    "a connection that ends after each byte of the replies fails the look-up, and the next one connects again"
  )
  func cut() async throws {
    let whole = Array("\(Self.time)*0\r\n".utf8)
    for count in whole.indices {
      let server = try await ScriptedServer { words, connection in
        // The discovery of the cluster has the same connection.
        if words[0] != "HGETALL" { return .bytes("") }
        let text = connection == 1 ? String(decoding: whole[..<count], as: UTF8.self) : "\(Self.time)*0\r\n"
        return connection == 1 ? .cut(text) : .bytes(text)
      }
      let node = server.node()
      let commands: [RedisCommand] = [["TIME"], ["HGETALL", "x"]]
      let deadline = RedisDeadline(.seconds(30))
      let first = await tierError { _ = try await node.send(commands, on: .questions, by: deadline) }
      #expect(first?.kind == .unreachable, "after \(count) bytes")
      let replies = try await node.send(commands, on: .questions, by: deadline)
      #expect(replies.count == 2 && replies[1] == .array([]))
      node.close()
    }
  }

  @Test(
    "a reply that breaks the protocol, or is not what was asked for, is an error of the protocol",
    arguments: [
      "HTTP/1.1 400 Bad Request\r\n\r\n", "$-1\r\n", ":1\r\n", "+OK\r\n", "*1000000000\r\n",
      "$99999999999\r\n",
      "%1\r\n", "\0\0\0\0\r\n",
    ])
  func hostile(reply: String) async throws {
    let server = try await server { _ in .bytes(reply) }
    let tier = try server.tier()
    // Bytes after a reply answer nothing, or break the next look-up.
    var kinds: Set<SharedTierError.Kind?> = []
    for _ in 0..<3 { kinds.insert(await kind(tier)) }
    #expect(!kinds.isDisjoint(with: [.protocol, .unreachable]), "\(kinds)")
  }

  @Test("a reply that nothing asked for ends the connection")
  func unasked() async throws {
    let server = try await server { _ in .bytes("*0\r\n+more\r\n") }
    let tier = try server.tier()
    for number in 1...3 {
      _ = await kind(tier)
      try await eventually { server.connections >= number }
      let connections = server.connections
      try await eventually {
        _ = await kind(tier)
        return server.connections > connections
      }
    }
  }

  @Test(
    "a server that loads, has no primary or cannot save is unavailable; the connection stays",
    arguments: [
      "LOADING Redis is loading the dataset in memory", "MASTERDOWN Link", "MISCONF Errors writing",
    ])
  func unavailable(error: String) async throws {
    let server = try await server { _ in .bytes("-\(error)\r\n") }
    let tier = try server.tier()
    for _ in 0..<3 { #expect(await kind(tier) == .unavailable) }
    #expect(server.connections == 1)
  }

  @Test("credentials and database are sent first, and nothing before they are taken")
  func greeting() async throws {
    let server = try await ScriptedServer { words, _ in .bytes(words[0] == "X" ? ":1\r\n" : "+OK\r\n") }
    let node = server.node(username: "u", password: "p", database: 2)
    #expect(
      try await node.send([["X"]], on: .newLog, by: RedisDeadline(.seconds(60))).isEmpty == false)
    #expect(server.commands == [["AUTH", "u", "p"], ["SELECT", "2"], ["X"]])
    node.close()
    for refusal in ["WRONGPASS invalid", "ERR DB index is out of range", "LOADING x"] {
      let server = try await ScriptedServer { words, _ in
        .bytes(words[0] == "SELECT" ? "-\(refusal)\r\n" : "+OK\r\n")
      }
      let node = server.node(password: "p", database: 2)
      let error = await tierError {
        _ = try await node.send([["X"]], on: .questions, by: RedisDeadline(.seconds(60)))
      }
      #expect(error?.kind == (refusal.hasPrefix("LOADING") ? .unavailable : .refused))
      #expect(server.commands == [["AUTH", "p"], ["SELECT", "2"]])
      node.close()
    }
  }

  @Test("what a server says about the credentials is not repeated: it may have the password")
  func secretGreeting() async throws {
    let texts = [
      "ERR unknown command 'AUTH', with args beginning with: 'u' 's3cret' ", "s3cret", "ERR s3cret",
    ]
    for text in texts {
      let server = try await ScriptedServer { _, _ in .bytes("-\(text)\r\n") }
      let node = server.node(username: "u", password: "s3cret")
      for _ in 0..<2 {
        let error = await tierError {
          _ = try await node.send([["X"]], on: .questions, by: RedisDeadline(.seconds(60)))
        }
        #expect(error?.kind == .refused)
        #expect(error?.message.contains("s3cret") == false && error?.message.contains("AUTH") == true)
      }
      node.close()
    }
  }

  @Test("a question whose connection closes because another one is late tells of no lost server")
  func besideALateOne() async throws {
    let server = try await ScriptedServer { _, _ in .silence }
    let node = server.node()
    async let patient = tierError {
      _ = try await node.send([["Y"]], on: .questions, by: RedisDeadline(.seconds(60)))
    }
    try await eventually { server.commands == [["Y"]] }
    let late = await tierError {
      _ = try await node.send([["X"]], on: .questions, by: RedisDeadline(.milliseconds(1)))
    }
    #expect(late?.kind == .timeout)
    #expect(await patient?.kind == .unavailable)
    node.close()
  }

  @Test("a connection that is not used any more is closed, also if it was not made yet")
  func unused() async throws {
    let server = try await ScriptedServer { _, _ in .silence }
    let settings = RedisSettings(
      username: nil, password: nil, database: 0, tls: nil, group: MultiThreadedEventLoopGroup.singleton)
    for number in 1...8 {
      _ = RedisConnection(to: RedisEndpoint(host: "127.0.0.1", port: server.port), settings)
      try await eventually { server.connections == number && server.ends == number }
    }
  }

  @Test("MOVED and ASK are followed within one look-up, TRYAGAIN is asked again, and a circle ends")
  func redirections() async throws {
    let target = try await server { words in words[0] == "ASKING" ? .bytes("+OK\r\n") : .bytes("*0\r\n") }
    for redirection in ["MOVED 5 127.0.0.1:\(target.port)", "ASK 5 127.0.0.1:\(target.port)"] {
      let source = try await server { _ in .bytes("-\(redirection)\r\n") }
      let tier = try source.tier()
      #expect(try await tier.find([Sample.key()]).variants[0].isEmpty)
    }
    let asked = target.commands.filter { $0[0] != "CLUSTER" }.map { $0[0] }
    #expect(asked == ["TIME", "HGETALL", "ASKING", "TIME", "ASKING", "HGETALL"])
    let counter = Counter()
    let busy = try await server { _ in .bytes(counter.increment() < 3 ? "-TRYAGAIN x\r\n" : "*0\r\n") }
    let patient = try busy.tier()
    #expect(try await patient.find([Sample.key()]).variants[0].isEmpty)
    let circle = try await server { _ in .bytes("-MOVED 5 :1\r\n") }
    let lost = try circle.tier()
    #expect(await kind(lost) == .unreachable)
    let itself = try await server { _ in .bytes("-TRYAGAIN x\r\n") }
    let tired = try itself.tier()
    #expect(await kind(tired) == .unavailable)
  }

  @Test("a lock that ends while it is asked for counts as held: the next attempt gets it")
  func endedLock() async throws {
    let counter = Counter()
    let server = try await server { words in
      words[0] == "SET" && counter.increment() == 2 ? .bytes("+OK\r\n") : .bytes("$-1\r\n")
    }
    let tier = try server.tier()
    let ticket = SharedPosition(time: 7, number: 8)
    var locks: [SharedLock] = []
    for _ in 0..<2 {
      locks.append(
        try await tier.lock(
          Sample.key(), token: "a", ticket: ticket, duration: .seconds(1), overtaking: nil))
    }
    #expect(locks == [.held(ticket: ticket), .acquired])
  }

  @Test("a server that answers nothing costs a look-up its deadline, and its connection is closed")
  func silence() async throws {
    let server = try await server { _ in .silence }
    let tier = try server.tier(limits: RedisLimits())
    var kinds: [SharedTierError.Kind?] = []
    // A busy machine may not come to connect within the deadline.
    while server.connections < 3 || !kinds.contains(.timeout), !Task.isCancelled {
      kinds.append(await kind(tier))
    }
    #expect(!kinds.contains(nil))
  }
}
