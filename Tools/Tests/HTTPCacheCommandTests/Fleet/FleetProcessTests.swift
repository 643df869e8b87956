import Foundation
import HTTPCacheTesting
import NIOHTTP1
import ServerTesting
import Synchronization
import Testing

@testable import HTTPCacheCommand

/// Three servers in front of one origin, with a real Redis server between them.
@Suite(
  .timeLimit(.minutes(10)), .serialized,
  .enabled(if: RedisProgram.isInstalled, "redis-server is not installed"))
struct FleetProcessTests {
  @Test("64 requests over three servers for what none has are one request to the origin")
  func concurrentMisses() async throws {
    let gate = Mutex(Gate())
    try await FleetNodes.run(gate: { try? await gate.withLock { $0 }.pass() }) { fleet, origin in
      var (attempt, alone, isShown) = (0, 0, false)
      // A server whose question passes its time limit, and one that reads the log late, goes alone, which a busy machine
      // makes happen now and then: such an attempt shows nothing. Only the first is counted as a failure.
      while !isShown {
        try await fleet.settle()
        attempt += 1
        let path = "/misses-\(attempt)"
        let failures = try await fleet.failures()
        let asked = { origin.requests.filter { $0.line.contains(path) }.count }
        let closed = Gate()
        gate.withLock { $0 = closed }
        try await withThrowingTaskGroup(of: TestAnswer.self) { tasks in
          for number in 0..<64 { tasks.addTask { try await fleet.get(path, from: number % 3) } }
          try await eventually { try await fleet.connections() >= 64 }
          try await eventually { asked() > 0 }
          closed.open()
          for try await answer in tasks {
            #expect(answer.status == 200 && answer.body.hasPrefix("version "), "\(answer)")
          }
        }
        #expect(asked() <= 3)
        guard try await fleet.failures() == failures else { continue }
        isShown = asked() == 1
        if !isShown { alone += 1 }
        try #require(alone < 10)
      }
      let hits = try await [0, 1, 2].asyncSum { try await fleet.figures(of: $0).sharedHits }
      #expect(hits >= 2)
    }
  }

  @Test("a purge through one server reaches all, and its answer says so")
  func purge() async throws {
    try await FleetNodes.run { fleet, origin in
      try await fleet.settle()
      for node in 0..<3 { #expect(try await fleet.get("/a", from: node).status == 200) }
      let before = origin.requests.count
      var answer = try await fleet.admin("/purge?url=\(origin.base)/a", .POST, of: 1)
      // Only on a machine that is too busy to apply it within the time that a purge waits.
      while !answer.body.hasSuffix(",\"fleet\":{\"applied\":3,\"nodes\":3,\"pending\":0}}\n") {
        answer = try await fleet.admin("/purge?url=\(origin.base)/a", .POST, of: 1)
      }
      #expect(answer.status == 200)
      for node in 0..<3 {
        let body = try await fleet.get("/a", from: node).body
        let number = try #require(Int(body.split(separator: " ").last ?? ""))
        #expect(number > before, "node \(node): \(body)")
      }
    }
  }

  @Test("purge --fleet reaches all servers; fleet shows them")
  func command() async throws {
    try await FleetNodes.run { fleet, origin in
      try await fleet.settle()
      for node in 0..<3 { #expect(try await fleet.get("/c", from: node).status == 200) }
      let before = origin.requests.count
      var run = await CommandRun("purge", "--fleet", fleet.address, "--prefix", "\(origin.base)/c")
      while run.output != "removed on 3 of 3 nodes\n" {
        run = await CommandRun("purge", "--fleet", fleet.address, "--prefix", "\(origin.base)/c")
      }
      #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
      for node in 0..<3 {
        let number = Int(try await fleet.get("/c", from: node).body.split(separator: " ").last ?? "")
        #expect(try #require(number) > before)
      }
      try await fleet.settle()
      let shown = await CommandRun.success("fleet", "--fleet", fleet.address)
      #expect(shown.output.hasPrefix("fleet default at \(fleet.address)\n"), "\(shown.output)")
      #expect(shown.output.contains("memory "))
      #expect(!shown.output.contains("memory unknown"))
      #expect(shown.output.contains(" of 64.0 MiB"), "\(shown.output)")
      let top = await CommandRun(
        "top", "--admin", "127.0.0.1:\(fleet.nodes[0].admin)", "--admin-token-file", fleet.token, "--count",
        "1",
        "--json")
      let sample = try JSONDecoder().decode(AdminLive.self, from: Data(top.output.utf8))
      let name = try await fleet.figures(of: 0).node
      #expect(sample.fleet?.node == name, "\(top.output)\(top.errors)")
      var screen = TopScreen()
      #expect(screen.text(sample, of: "h").contains("\u{1B}[K\nfleet   "))
      for node in 0..<3 {
        let name = try await fleet.figures(of: node).node
        #expect(shown.output.contains(name), "\(shown.output)")
      }
    }
  }

  @Test(
    "a killed Redis server fails no request; a purge waits, and reaches the others when the server is back")
  func killed() async throws {
    try await FleetNodes.run { fleet, origin in
      try await fleet.settle()
      for node in 0..<3 { #expect(try await fleet.get("/k", from: node).status == 200) }
      await fleet.redis.kill()
      for number in 0..<30 {
        #expect(try await fleet.get("/k", from: number % 3).status == 200)
        #expect(try await fleet.get("/k-\(number)", from: number % 3).status == 200)
      }
      let answer = try await fleet.admin("/purge?url=\(origin.base)/k", .POST, of: 0)
      #expect(answer.status == 202)
      #expect(answer.body.contains("\"pending\":1}"), "\(answer.body)")
      try await eventually { try await !fleet.figures(of: 0).isConnected }
      let metrics = try await fleet.admin("/metrics", of: 0).body
      #expect(metrics.contains("\nhttpcache_fleet_pending_changes 1\n"))
      #expect(metrics.contains("\nhttpcache_fleet_connected 0\n"))
      let before = origin.requests.count
      try await fleet.redis.restart()
      for node in 0..<3 {
        try await eventually { try await fleet.figures(of: node).isConnected }
      }
      for node in 0..<3 {
        // The change may be on its way.
        var number = 0
        while number <= before {
          let body = try await fleet.get("/k", from: node).body
          number = try #require(Int(body.split(separator: " ").last ?? ""))
        }
      }
      // A reply of the server that came late leaves the change for the next connection.
      try await eventually { try await fleet.figures(of: 0).pendingChanges == 0 }
    }
  }
}

extension Collection {
  /// The sum of a value of each element.
  fileprivate func asyncSum(_ value: (Element) async throws -> Int64) async rethrows -> Int64 {
    var sum: Int64 = 0
    for element in self { sum += try await value(element) }
    return sum
  }
}
