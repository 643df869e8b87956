import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

/// Downloads of files that the cache does not store: a part tells the length of the whole.
@Suite(.timeLimit(.minutes(10))) struct DownloadLengthTests {
  private static let length: Int64 = 3_000_000
  private static let first: Int64 = 1_000_000
  private let folder: ScratchFolder
  private let target: URL

  init() throws {
    folder = try ScratchFolder()
    target = folder.url("target")
  }

  /// A cache in which no file of this length fits. The first transfer breaks off, `answer` is the second answer, later
  /// ones are right.
  private func test(_ answer: @escaping @Sendable (OriginRequest) -> OriginAnswer) throws -> TestSession {
    try TestSession(largestEntry: .bytes(1_000)) { request in
      switch request.number {
      case 1:
        return .brokenOff(after: Self.first, of: Self.length, tag: "\"a\"")
      case 2: return answer(request)
      default: return .ranged(request, length: Self.length, tag: "\"a\"")
      }
    }
  }

  private func requireWhole() throws {
    #expect(try Array(Data(contentsOf: target)) == OriginAnswer.pattern(0..<Self.length))
  }

  @Test(
    "a 200 without a length under the same strong validator is no shorter or longer file",
    arguments: [500_000, 2_000_000, 3_500_000] as [Int64])
  func contradictions(count: Int64) async throws {
    let test = try test { _ in
      OriginAnswer(fields: [("ETag", "\"a\"")], steps: [.pattern(7..<count + 7)], framing: .chunked)
    }
    await test.breakOff(to: target)
    await #expect(throws: URLError.self) {
      try await test.session.download(for: test.request("/"), to: target)
    }
    #expect(!FileManager.default.fileExists(atPath: target.path))
    try await test.session.download(for: test.request("/"), to: target)
    #expect(test.origin.requests.last?["Range"] == "bytes=\(Self.first)-")
    try requireWhole()
  }

  @Test("a 206 with more bytes than it says is asked once without a range, and none of its bytes stay")
  func surplus() async throws {
    let test = try test { _ in
      OriginAnswer(
        status: 206,
        fields: [
          ("ETag", "\"a\""), ("Content-Range", "bytes \(Self.first)-\(Self.length - 1)/\(Self.length)"),
        ],
        steps: [.pattern(7..<Self.length)], framing: .chunked)
    }
    await test.breakOff(to: target)
    try await test.session.download(for: test.request("/"), to: target)
    #expect(test.origin.requests.map { $0["Range"] != nil } == [false, true, false])
    try requireWhole()
  }

  @Test(
    "a success without the file gets one request without the range; if that has none either, the part stays",
    arguments: [202, 204], [true, false])
  func otherSuccess(status: Int, comesTwice: Bool) async throws {
    let test = try TestSession(largestEntry: .bytes(1_000)) { request in
      switch request.number {
      case 1:
        return .brokenOff(after: Self.first, of: Self.length, tag: "\"a\"")
      case 2: return .status(status)
      case 3 where comesTwice: return .status(status)
      default: return .ranged(request, length: Self.length, tag: "\"a\"")
      }
    }
    await test.breakOff(to: target)
    if comesTwice {
      await #expect(throws: UnexpectedStatus.self) {
        try await test.session.download(for: test.request("/"), to: target)
      }
      #expect(!FileManager.default.fileExists(atPath: target.path))
    }
    try await test.session.download(for: test.request("/"), to: target)
    let last = test.origin.requests.last?["Range"]
    #expect(last == (comesTwice ? "bytes=\(Self.first)-" : nil))
    try requireWhole()
  }
}
