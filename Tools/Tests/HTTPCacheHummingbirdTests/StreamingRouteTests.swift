import AsyncHTTPClient
import HTTPCacheHummingbird
import HTTPCacheTesting
import HTTPCaching
import Hummingbird
import NIOHTTP1
import ServerTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct StreamingRouteTests {
  private let app = CachedApp()

  @Test(
    "the beginning of a body reaches the client before the route writes the end",
    arguments: ["max-age=60", "no-store"])
  func streams(cacheControl: String) async throws {
    let gate = Gate()
    try await app.run {
      $0.get("stream") { _, _ in
        Response(
          status: .ok, headers: [.cacheControl: cacheControl],
          body: ResponseBody { writer in
            try await writer.write(ByteBuffer(string: "begin"))
            try await gate.pass()
            try await writer.write(ByteBuffer(string: "end"))
            try await writer.finish(nil)
          })
      }
    } _: { server async throws in
      let response = try await server.open(.GET, "/stream")
      var iterator = response.body.makeAsyncIterator()
      let first = try await iterator.next()
      #expect(first.map { String(buffer: $0) } == "begin")
      gate.open()
      var rest = ""
      while let buffer = try await iterator.next() { rest += String(buffer: buffer) }
      #expect(rest == "end")
    }
  }

  @Test("a large stream arrives as it was written, from the route and from the store")
  func large() async throws {
    let pieces = (0..<200).map { ByteBuffer(repeating: UInt8($0), count: 10_000 + $0) }
    let whole = pieces.reduce(into: [UInt8]()) { $0.append(contentsOf: $1.readableBytesView) }
    try await app.run {
      $0.get("large") { _, _ in
        Response(
          status: .ok, headers: [.cacheControl: "max-age=60"],
          body: ResponseBody { writer in
            for piece in pieces { try await writer.write(piece) }
            try await writer.finish(nil)
          })
      }
    } _: { server async throws in
      for isHit in [false, true] {
        let response = try await server.open(.GET, "/large")
        #expect(response.headers.first(name: "Cache-Status")?.contains("hit") == isHit)
        let body = try await response.body.collect(upTo: 4_000_000)
        #expect(Array(body.readableBytesView) == whole)
      }
    }
  }

  @Test("a write ends when its own task is cancelled, though the client reads nothing")
  func cancelledWrite() async throws {
    let (written, cancelled) = (Gate(), Gate())
    try await app.run {
      $0.get("group") { _, _ in
        Response(
          status: .ok, headers: [.cacheControl: "no-store"],
          body: ResponseBody { writer in
            let copy = CopiedWriter(writer: writer)
            let writing = Task {
              var copy = copy
              while true { try await copy.writer.write(ByteBuffer(repeating: 1, count: 64 << 10)) }
            }
            try await written.pass()
            writing.cancel()
            _ = await writing.result
            cancelled.open()
            throw CancellationError()
          })
      }
    } _: { server async throws in
      let response = try await server.open(.GET, "/group")
      // The body is not read: the writer waits before long.
      written.open()
      try await cancelled.pass()
      _ = response
    }
  }

  @Test("a client that leaves stops the route's stream")
  func leaving() async throws {
    let stopped = Gate()
    try await app.run {
      $0.get("endless") { _, _ in endlessAnswer { stopped.open() } }
    } _: { server async throws in
      do {
        let response = try await server.open(.GET, "/endless")
        for try await _ in response.body { break }
      }
      try await stopped.pass()
    }
  }
}

/// A writer for another task, as code may use it that the compiler does not check, such as that of Swift 5.
private struct CopiedWriter: @unchecked Sendable {
  // @unchecked Sendable because one task uses it.
  var writer: any ResponseBodyWriter
}
