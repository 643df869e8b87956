import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

@Suite("A download is whole at the length that is known", .timeLimit(.minutes(10)))
struct DownloadLengthTests {
  private static let count = 300_000
  private static let cut = 100_000

  /// A download whose connection has broken off after 100,000 of 300,000 bytes.
  private func brokenOff(_ cacheControl: String) async throws -> (TestQueue, DownloadID) {
    let test = try TestQueue(count: Self.count, onDisk: true) { $0.tryLimit = 3 }
    test.origin.change {
      $0.fields[.cacheControl] = cacheControl
      $0.cuts = [Self.cut]
    }
    let id = try test.add("/file", to: "file")
    _ = await test.wait(id) { $0.isRetry }
    return (test, id)
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
    #expect(try await test.end(id) == .done(.fetched))
    #expect(test.contents("file") == test.origin.content)
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

  @Test(
    "a 206 with more bytes than it says is asked once without a range, and none of its bytes stay",
    arguments: ["no-store", "max-age=60"], [1, 4])
  func surplus(cacheControl: String, segments: Int) async throws {
    let test = try TestQueue(count: Self.count, onDisk: true) { $0.tryLimit = 3 }
    test.origin.change {
      $0.fields[.cacheControl] = cacheControl
      $0.cuts = [Self.cut]
    }
    let id = try test.add(to: "file", segments: segments)
    _ = await test.wait(id) { $0.isRetry }
    test.origin.change {
      $0.special = { request in
        guard let range = request["Range"], let start = Int(range.dropFirst(6).prefix { $0 != "-" }) else {
          return nil
        }
        return Self.answer(
          status: 206, [UInt8](repeating: 9, count: Self.count - start + 70_000), cacheControl,
          range: "bytes \(start)-\(Self.count - 1)/\(Self.count)")
      }
    }
    #expect(try await test.end(id) == .done(.fetched))
    #expect(test.contents("file") == test.origin.content)
    #expect(test.upstream.requests.last?["Range"] == nil)
  }

  @Test(
    "a 206 without a byte, or with another Content-Length, is asked once without a range",
    arguments: [true, false])
  func useless(isEmpty: Bool) async throws {
    let (test, id) = try await brokenOff("no-store")
    test.origin.change {
      $0.special = { request in
        guard request["Range"] != nil else { return nil }
        var answer = Self.answer(
          status: 206, isEmpty ? [] : [UInt8](repeating: 9, count: 10), "no-store",
          range: "bytes \(Self.cut)-\(Self.count - 1)/\(Self.count)")
        if !isEmpty { answer.head.headerFields[.contentLength] = "10" }
        return answer
      }
    }
    #expect(try await test.end(id) == .done(.fetched))
    #expect(test.contents("file") == test.origin.content)
    #expect(test.upstream.requests.map { $0["Range"] } == [nil, "bytes=100000-", nil])
  }

  @Test(
    "a success without the file gets one request without the range",
    arguments: ["no-store", "max-age=60"], [202, 204, 205, 299])
  func otherSuccess(cacheControl: String, status: Int) async throws {
    let (test, id) = try await brokenOff(cacheControl)
    test.origin.change {
      $0.special = { request in
        request["Range"] == nil ? nil : Self.answer(status: status, [], cacheControl)
      }
    }
    #expect(try await test.end(id) == .done(.fetched))
    #expect(test.contents("file") == test.origin.content)
    #expect(test.upstream.requests.map { $0["Range"] } == [nil, "bytes=100000-", nil])
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
    #expect(try await test.end(id) == .done(.fetched))
    #expect(test.contents("file") == test.origin.content)
    #expect(test.upstream.requests.last?["Range"] == "bytes=100000-")
  }
}
