import Foundation
import HTTPCaching
import HTTPTypes
import Testing

@testable import HTTPCacheURLSession

/// Bodies whose reader is slower than the origin.
@Suite(.timeLimit(.minutes(10))) struct SlowReaderTests {
  private let length: Int64 = 16 << 20

  // MARK: Over Foundation

  /// Reads the first bytes of a body, and the rest once its origin has sent all. The origin answers only one
  /// request.
  private func read(
    _ fields: [(String, String)], status: Int
  ) async throws -> (bytes: [UInt8], requests: Int) {
    let origin = try SocketOrigin { [length] request in
      request.number == 1
        ? .ranged(request, length: length, tag: "\"a\"", fields)
        : .status(status, [("Retry-After", "60")])
    }
    let head = HTTPRequest(
      method: .get, scheme: "http", authority: "127.0.0.1:\(origin.port)", path: "/")
    let body = try await URLSessionUpstream(configuration: .ephemeral)
      .send(UpstreamRequest(head: head)).body
    var bytes = try await body.source.next()?.array ?? []
    await origin.sent(1)
    while let piece = try await body.source.next() { bytes += piece.array }
    return (bytes, origin.requests.count)
  }

  @Test(
    "a slow reader causes one request, so that single-use URLs and limits do not matter",
    arguments: [403, 429])
  func oneRequest(status: Int) async throws {
    let (bytes, requests) = try await read([], status: status)
    let isSame = bytes == OriginAnswer.pattern(0..<length)
    #expect(isSame)
    #expect(requests == 1)
  }

  @Test("a body that must not be stored comes whole, too")
  func noStore() async throws {
    let (bytes, requests) = try await read([("Cache-Control", "no-store")], status: 403)
    let isSame = bytes == OriginAnswer.pattern(0..<length)
    #expect(isSame)
    #expect(requests == 1)
  }

  // MARK: The buffer

  /// The bytes that a buffer gives until it is empty.
  private func drain(_ buffer: inout ReceiveBuffer) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try buffer.take() { bytes += piece.array }
    return bytes
  }

  @Test("bytes above the limit go to a file, in order, and the file is used again")
  func spills() throws {
    var buffer = ReceiveBuffer()
    buffer.maySpill = true
    for _ in 0..<2 {
      for start in stride(from: Int64(0), to: 5 << 20, by: 100_000) {
        try buffer.append(Data(OriginAnswer.pattern(start..<start + 100_000)), expected: nil)
      }
      #expect(buffer.countInMemory < ReceiveBuffer.memoryLimit + 100_000)
      #expect(buffer.count == 5_300_000)
      // Bytes that come while the file is being read come after it.
      let first = try #require(try buffer.take()).array
      try buffer.append(Data(OriginAnswer.pattern(5_300_000..<5_400_000)), expected: nil)
      let isSame = first + (try drain(&buffer)) == OriginAnswer.pattern(0..<5_400_000)
      #expect(isSame)
      #expect(buffer.count == 0)
    }
  }

  @Test("without permission all bytes stay in memory")
  func staysInMemory() throws {
    var buffer = ReceiveBuffer()
    try buffer.append(Data(OriginAnswer.pattern(0..<5 << 20)), expected: nil)
    #expect(buffer.countInMemory == 5 << 20)
    let isSame = try drain(&buffer) == OriginAnswer.pattern(0..<5 << 20)
    #expect(isSame)
  }

  @Test(
    "no byte of a response with no-store goes to a file",
    arguments: [("Cache-Control", "max-age=60, No-Store"), ("X-A", "no-store")])
  func noStoreNeverSpills(field: (String, String)) throws {
    let url = try #require(URL(string: "http://example.com/"))
    for isRequests in [true, false] {
      var request = URLRequest(url: url)
      if isRequests { request.setValue(field.1, forHTTPHeaderField: field.0) }
      var state = ReceiveState(request, mayUseFiles: true)
      let response = try #require(
        HTTPURLResponse(
          url: url, statusCode: 200, httpVersion: nil,
          headerFields: isRequests ? [:] : [field.0: field.1]))
      let ends = [
        state.received(response), state.received(Data(OriginAnswer.pattern(0..<3 << 20))),
        state.received(Data(OriginAnswer.pattern(0..<3 << 20))),
      ]
      #expect(!ends.contains(true))
      #expect((state.buffer.countInMemory < state.buffer.count) == (field.0 == "X-A"))
    }
  }
}
