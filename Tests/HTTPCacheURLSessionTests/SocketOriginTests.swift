import Foundation
import HTTPCacheURLSession
import Testing

/// The test origin itself, requested by Foundation without any cache.
@Suite(.timeLimit(.minutes(10))) struct SocketOriginTests {
  private func get(
    _ url: URL, _ fields: [String: String] = [:]
  ) async throws -> (Data, HTTPURLResponse) {
    var request = URLRequest(url: url)
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    let session = URLSession(configuration: .ephemeral)
    defer { session.finishTasksAndInvalidate() }
    let (data, response) = try await session.data(for: request)
    return (data, try #require(response as? HTTPURLResponse))
  }

  @Test func answersAndKeepsTheRequest() async throws {
    let origin = try SocketOrigin { .text("number \($0.number)", [("X-One", "1")]) }
    let (data, response) = try await get(origin.url("/a?b"), ["X-Two": "2"])
    #expect(String(decoding: data, as: UTF8.self) == "number 1")
    #expect(response.value(forHTTPHeaderField: "X-One") == "1")
    #expect(origin.requests.map(\.target) == ["/a?b"])
    #expect(origin.requests.first?["x-two"] == "2")
  }

  @Test func chunks() async throws {
    let origin = try SocketOrigin { _ in
      OriginAnswer(steps: [.bytes([65]), .pattern(0..<200_000)], framing: .chunked)
    }
    let (data, _) = try await get(origin.url("/"))
    #expect(Array(data) == [65] + OriginAnswer.pattern(0..<200_000))
  }

  @Test func answersARangeWhereTheConditionHolds() async throws {
    let origin = try SocketOrigin { .ranged($0, length: 1000, tag: "\"a\"") }
    let (part, response) = try await get(
      origin.url("/"), ["Range": "bytes=10-19", "If-Range": "\"a\""])
    #expect(response.statusCode == 206)
    #expect(Array(part) == OriginAnswer.pattern(10..<20))
    let (whole, other) = try await get(
      origin.url("/"), ["Range": "bytes=10-19", "If-Range": "\"b\""])
    #expect(other.statusCode == 200)
    #expect(whole.count == 1000)
  }

  @Test func compresses() async throws {
    let text = String(repeating: "text ", count: 20_000)
    let origin = try SocketOrigin { _ in .gzip(text) }
    let (data, _) = try await get(origin.url("/"))
    #expect(String(decoding: data, as: UTF8.self) == text)
  }

  @Test func cutsABody() async throws {
    let origin = try SocketOrigin { _ in
      OriginAnswer(steps: [.bytes([1, 2, 3]), .cut], framing: .length(10))
    }
    await #expect(throws: URLError.self) { _ = try await get(origin.url("/")) }
  }

  @Test func takesABody() async throws {
    let origin = try SocketOrigin { .text("\($0.body.count)") }
    var request = URLRequest(url: origin.url("/"))
    request.httpMethod = "POST"
    request.httpBody = Data(repeating: 7, count: 3_000_000)
    let (data, _) = try await URLSession.shared.data(for: request)
    #expect(String(decoding: data, as: UTF8.self) == "3000000")
  }
}
