import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCacheTesting
import HTTPCaching
import Hummingbird
import NIOCore
import NIOHTTP1
import ServerTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct StreamingTests {
  @Test("the beginning of a body is there before its end is sent", arguments: ["max-age=60", "no-store"])
  func responseStreams(cacheControl: String) async throws {
    let gate = Gate()
    let routes = Routes()
    routes.get("stream") { _, _ in
      Response(
        status: .ok, headers: [.cacheControl: cacheControl],
        body: ResponseBody { writer in
          try await writer.write(ByteBuffer(string: "begin"))
          try await gate.pass()
          try await writer.write(ByteBuffer(string: "end"))
          try await writer.finish(nil)
        })
    }
    try await CachedOrigin.run(routes) { origin async throws in
      let response = try await origin.client.execute(
        origin.request("/stream"), timeout: .seconds(120))
      var iterator = response.body.makeAsyncIterator()
      let first = try await iterator.next()
      #expect(first.map { String(buffer: $0) } == "begin")
      gate.open()
      var rest = ""
      while let buffer = try await iterator.next() { rest += String(buffer: buffer) }
      #expect(rest == "end")
    }
  }

  @Test("large bodies arrive as they were sent, from the origin and from the store")
  func large() async throws {
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    let routes = Routes()
    routes.get("large") { _, _ in
      Response(
        status: .ok, headers: [.cacheControl: "max-age=60"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
    try await CachedOrigin.run(routes) { origin async throws in
      for isHit in [false, true] {
        let response = try await origin.client.execute(
          origin.request("/large"), timeout: .seconds(120))
        #expect(response.cacheOutcome.isHit == isHit)
        let body = try await response.body.collect(upTo: 4_000_000)
        #expect(Array(body.readableBytesView) == bytes)
      }
    }
  }

  @Test("content of known length is sent with Content-Length, a stream in chunks, both whole")
  func requestContent() async throws {
    let routes = Routes()
    routes.post("echo") { request, _ in
      let framing = request.headers[.contentLength] ?? request.headers[.transferEncoding] ?? "none"
      let body = try await request.body.collect(upTo: 1 << 20)
      return answer("\(framing) \(String(buffer: body))", [:])
    }
    try await CachedOrigin.run(routes) { origin async throws in
      var request = origin.request("/echo")
      request.method = .POST
      request.body = .bytes(ByteBuffer(string: "hello"))
      let known = try await origin.client.execute(request, timeout: .seconds(120))
      #expect(String(buffer: try await known.body.collect(upTo: 100)) == "5 hello")
      let parts = AsyncStream<ByteBuffer> { continuation in
        for part in ["a", "", "bc"] { continuation.yield(ByteBuffer(string: part)) }
        continuation.finish()
      }
      request.body = .stream(parts, length: .unknown)
      let streamed = try await origin.client.execute(request, timeout: .seconds(120))
      #expect(String(buffer: try await streamed.body.collect(upTo: 100)) == "chunked abc")
    }
  }

  @Test("a body that is cut throws, and is never served as a whole body later")
  func cutShort() async throws {
    struct Broken: Error {}
    let calls = Counter()
    let routes = Routes()
    routes.get("cut") { _, _ in
      let isFirst = calls.increment() == 1
      return Response(
        status: .ok, headers: [.cacheControl: "max-age=60"],
        body: ResponseBody { writer in
          try await writer.write(ByteBuffer(string: "half"))
          if isFirst { throw Broken() }
          try await writer.write(ByteBuffer(string: " whole"))
          try await writer.finish(nil)
        })
    }
    try await CachedOrigin.run(routes) { origin async throws in
      await #expect(throws: (any Error).self) { try await origin.get("/cut") }
      #expect(try await origin.get("/cut").body == "half whole")
    }
  }

  @Test("a reader that leaves stops the origin")
  func leaving() async throws {
    let stopped = Gate()
    let routes = Routes()
    routes.get("endless") { _, _ in endlessAnswer { stopped.open() } }
    try await CachedOrigin.run(routes) { origin async throws in
      do {
        let response = try await origin.client.execute(
          origin.request("/endless"), timeout: .seconds(120))
        for try await _ in response.body { break }
      }
      try await stopped.pass()
    }
  }
}
