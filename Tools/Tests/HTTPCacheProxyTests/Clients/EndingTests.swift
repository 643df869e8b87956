import HTTPCacheLibC
import NIOCore
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("How the proxy ends", .timeLimit(.minutes(10))) struct EndingTests {
  @Test("an answer without a length that the end cuts does not look complete", arguments: ["1.0", "1.1"])
  func cutAnswer(_ version: String) async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open("GET / HTTP/\(version)\r\nHost: h\r\n\r\n")
      peer.send("HTTP/1.1 200 OK\r\n\r\npart")
      _ = try await client.receive(through: "part")
      await proxy.server.shutDown(deadline: .zero)
      #expect(try await client.endsWithReset())
    }
  }

  @Test("an answer that the end of the connection ends is not reset when it is whole")
  func wholeAnswer() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open("GET / HTTP/1.0\r\nHost: h\r\n\r\n")
      peer.send("HTTP/1.1 200 OK\r\n\r\nwhole")
      peer.finish()
      _ = try await client.receive(through: "whole")
      #expect(try await client.endsWithReset() == false)
    }
  }

  @Test("a log without a reader delays neither requests nor the end")
  func unreadLog() async throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let full = [UInt8](repeating: 0, count: 4096)
    #expect(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
    while write(ends[1], full, full.count) > 0 {}
    #expect(fcntl(ends[1], F_SETFL, 0) == 0)
    let log = AccessLog(.plain, descriptor: ends[1])
    try await withProxy(configure: { $0.accessLog = log }) { proxy in
      for _ in 1...3 { try await proxy.miss("/") }
    }
  }

  @Test("lines are written in their order, and all of them before flush returns")
  func lines() async throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let writer = LineWriter(descriptor: ends[1])
    for number in 0..<1000 { writer.add("\(number)\n") }
    await writer.flush()
    var buffer = [UInt8](repeating: 0, count: 8192)
    let count = read(ends[0], &buffer, buffer.count)
    let text = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
    #expect(text == (0..<1000).map { "\($0)\n" }.joined())
  }
}
