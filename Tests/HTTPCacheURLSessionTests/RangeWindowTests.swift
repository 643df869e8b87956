import Foundation
import HTTPCacheURLSession
import HTTPCaching
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Bodies whose reader is slower than the origin.
@Suite(.timeLimit(.minutes(10))) struct RangeWindowTests {
  private let length: Int64 = 16 << 20

  private func send(_ origin: SocketOrigin, _ fields: HTTPFields = [:]) async throws -> MessageBody {
    let head = HTTPRequest(
      method: .get, scheme: "http", authority: "127.0.0.1:\(origin.port)", path: "/",
      headerFields: fields)
    return try await URLSessionUpstream(configuration: .ephemeral)
      .send(UpstreamRequest(head: head)).body
  }

  /// An origin whose plain answer pauses after more bytes than are kept unread.
  private func origin(
    namesParts: Bool = true, _ tag: @escaping @Sendable (Int) -> String = { _ in "\"a\"" }
  ) throws -> SocketOrigin {
    try SocketOrigin { [length] request in
      var answer = OriginAnswer.ranged(request, length: length, tag: tag(request.number))
      if request.number > 1, !namesParts { answer.fields.removeAll { $0.0 == "ETag" } }
      if request.number == 1, case .pattern(let range) = answer.steps.first {
        let halt = range.lowerBound + (6 << 20)
        answer.steps = [
          .pattern(range.lowerBound..<halt), .hold(Latch()), .pattern(halt..<range.upperBound),
        ]
      }
      return answer
    }
  }

  /// Reads after the origin had to stop sending, because no byte was read.
  private func readLate(_ body: MessageBody, _ origin: SocketOrigin) async throws -> [UInt8] {
    await origin.abandoned(1)
    return try await body.collect().array
  }

  @Test func theRestIsAskedForInRanges() async throws {
    let origin = try origin()
    let bytes = try await readLate(send(origin), origin)
    #expect(bytes == OriginAnswer.pattern(0..<length))
    let ranges = origin.requests.dropFirst()
    #expect(ranges.count >= 2)
    #expect(ranges.allSatisfy { $0["If-Range"] == "\"a\"" && $0["Range"] != nil })
    let asked = ranges.compactMap { $0.range(of: length) }
    #expect(asked.allSatisfy { $0.count <= 8 << 20 })
    #expect(asked.last?.upperBound == length)
    #expect(zip(asked, asked.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
  }

  @Test func aRangeIsContinuedWithinItself() async throws {
    let origin = try origin()
    let range = 1000..<(length - 1000)
    let body = try await send(
      origin, [.range: "bytes=\(range.lowerBound)-\(range.upperBound - 1)"])
    #expect(try await readLate(body, origin) == OriginAnswer.pattern(range))
  }

  @Test func whatHasChangedMeanwhileIsAnError() async throws {
    let origin = try origin { $0 == 1 ? "\"a\"" : "\"b\"" }
    let body = try await send(origin)
    await origin.abandoned(1)
    await #expect { try await body.collect() } throws: {
      ($0 as? UpstreamError)?.kind == .protocol
    }
  }

  @Test func aPartWithoutTheEntityTagOfTheWholeIsAnError() async throws {
    let origin = try origin(namesParts: false)
    let body = try await send(origin)
    await origin.abandoned(1)
    await #expect { try await body.collect() } throws: {
      ($0 as? UpstreamError)?.kind == .protocol
    }
  }

  @Test func anOriginThatIgnoresRangesSendsTheWholeOnceMore() async throws {
    let origin = try SocketOrigin { [length] request in
      let halt: Int64 = 6 << 20
      let steps: [OriginAnswer.Step] =
        request.number == 1
        ? [.pattern(0..<halt), .hold(Latch()), .pattern(halt..<length)] : [.pattern(0..<length)]
      return OriginAnswer(
        fields: [("ETag", "\"a\""), ("Accept-Ranges", "bytes")], steps: steps)
    }
    let bytes = try await readLate(send(origin), origin)
    #expect(bytes == OriginAnswer.pattern(0..<length))
    #expect(origin.requests.count == 2)
  }

  @Test func aFastReaderNeedsNoRanges() async throws {
    let origin = try SocketOrigin { [length] in .ranged($0, length: length, tag: "\"a\"") }
    let body = try await send(origin)
    var count: Int64 = 0
    for try await bytes in body { count += Int64(bytes.count) }
    #expect(count == length)
  }

  @Test(arguments: [nil, "W/\"a\""])
  func withoutAStrongValidatorAllOfItComesAtOnce(_ tag: String?) async throws {
    let origin = try SocketOrigin { [length] in .ranged($0, length: length, tag: tag) }
    let body = try await send(origin)
    let bytes = try await body.collect().array
    #expect(bytes == OriginAnswer.pattern(0..<length))
    #expect(origin.requests.count == 1)
  }
}
