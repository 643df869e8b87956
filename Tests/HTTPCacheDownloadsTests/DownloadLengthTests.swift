import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

@Suite("A download is whole at the length that is known", .timeLimit(.minutes(10)))
struct DownloadLengthTests {
  private static let count = 300_000
  private static let cut = 100_000

  /// A download whose connection has broken off after 100,000 of 300,000 bytes.
  private func brokenOff(_ cacheControl: String, segments: Int = 1) async throws -> (TestQueue, DownloadID) {
    try await TestQueue.brokenOff(
      after: Self.cut, of: Self.count, segments: segments, cacheControl: cacheControl
    ) { $0.tryLimit = 3 }
  }

  /// A response without a length.
  private static func answer(
    status: Int = 200, _ bytes: [UInt8], _ cacheControl: String, range: String? = nil
  ) -> ScriptedResponse {
    var fields: HTTPFields = [.eTag: "\"a\"", .cacheControl: cacheControl]
    fields[.contentRange] = range
    return ScriptedResponse(
      head: HTTPResponse(status: .init(code: status), headerFields: fields),
      steps: stride(from: 0, to: bytes.count, by: 1 << 16).map {
        .bytes(BodyBytes(Array(bytes[$0..<min(bytes.count, $0 + 1 << 16)])))
      })
  }

  @Test(
    "a 200 without a length under the same strong validator is no shorter or longer file",
    arguments: ["no-store", "max-age=60"], [50_000, 250_000, 350_000])
  func contradictions(cacheControl: String, count: Int) async throws {
    let (test, id) = try await brokenOff(cacheControl)
    test.origin.change {
      $0.special = { _ in Self.answer(FileOrigin.bytes(count, seed: 9), cacheControl) }
    }
    #expect(try await test.end(id).failure == .interrupted)
    #expect(test.contents("file") == nil)
    test.origin.change { $0.special = nil }
    test.queue.resume(id)
    try await test.expectFetched(id)
  }

  @Test("nor is a file whose first range tells another length under the same validator")
  func firstRange() async throws {
    let (test, id) = try await brokenOff("no-store")
    test.origin.change {
      $0.special = { request in
        let start = request["Range"].flatMap { Int($0.dropFirst(6).prefix { $0 != "-" }) } ?? 0
        return Self.answer(
          status: 206, FileOrigin.bytes(200_000 - start), "no-store", range: "bytes \(start)-199999/200000")
      }
    }
    _ = try await test.end(id)
    #expect(test.contents("file") == nil)
  }

  @Test("a 200 without a length that has all bytes is the file", arguments: ["no-store", "max-age=60"])
  func whole(cacheControl: String) async throws {
    let (test, id) = try await brokenOff(cacheControl)
    let content = test.origin.content
    test.origin.change { $0.special = { _ in Self.answer(content, cacheControl) } }
    #expect(try await test.end(id) == .done(.fetched))
    #expect(test.contents("file") == content)
  }

  /// The octets of an answer to a request for a range.
  enum Octets: Sendable { case empty, ten, tooMany }

  @Test(
    "an answer that is not the rest is asked once without a range, and none of its bytes stay",
    arguments: [
      (206, .empty, "no-store", 1), (206, .ten, "no-store", 1), (206, .tooMany, "no-store", 1),
      (206, .tooMany, "no-store", 4), (206, .tooMany, "max-age=60", 1), (206, .tooMany, "max-age=60", 4),
      (202, .empty, "no-store", 1), (204, .empty, "no-store", 1), (205, .empty, "no-store", 1),
      (299, .empty, "no-store", 1), (202, .empty, "max-age=60", 1), (204, .empty, "max-age=60", 1),
      (205, .empty, "max-age=60", 1), (299, .empty, "max-age=60", 1),
    ] as [(Int, Octets, String, Int)])
  func notTheRest(status: Int, octets: Octets, cacheControl: String, segments: Int) async throws {
    let (test, id) = try await brokenOff(cacheControl, segments: segments)
    test.origin.change {
      $0.special = { request in
        guard let range = request["Range"], let start = Int(range.dropFirst(6).prefix { $0 != "-" }) else {
          return nil
        }
        let count = octets == .empty ? 0 : octets == .ten ? 10 : Self.count - start + 70_000
        var answer = Self.answer(
          status: status, [UInt8](repeating: 9, count: count), cacheControl,
          range: status == 206 ? "bytes \(start)-\(Self.count - 1)/\(Self.count)" : nil)
        if octets == .ten { answer.head.headerFields[.contentLength] = "10" }
        return answer
      }
    }
    try await test.expectFetched(id)
    #expect(test.upstream.requests.last?["Range"] == nil)
    if octets != .tooMany {
      #expect(test.upstream.requests.map { $0["Range"] } == [nil, "bytes=100000-", nil])
    }
  }

  @Test(
    "a success without the file to both requests is no file, and the part stays",
    arguments: ["no-store", "max-age=60"], [202, 204])
  func noFile(cacheControl: String, status: Int) async throws {
    let (test, id) = try await brokenOff(cacheControl)
    test.origin.change { $0.special = { _ in Self.answer(status: status, [], cacheControl) } }
    #expect(try await test.end(id).failure == .status)
    #expect(test.contents("file") == nil)
    test.origin.change { $0.special = nil }
    test.queue.resume(id)
    try await test.expectFetched(id)
    #expect(test.upstream.requests.last?["Range"] == "bytes=100000-")
  }
}
