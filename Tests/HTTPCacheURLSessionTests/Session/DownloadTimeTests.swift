import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import Testing

@Suite("The time of a file that a session downloads", .timeLimit(.minutes(10))) struct DownloadTimeTests {
  private static let length: Int64 = 3_000_000
  private static let first: Int64 = 1_000_000
  private static let modified = Date(timeIntervalSince1970: 1_600_000_000)
  private static let field = ("Last-Modified", "Sun, 13 Sep 2020 12:26:40 GMT")
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func time(_ name: String) throws -> Date? {
    try FileManager.default.attributesOfItem(atPath: folder.path(name))[.modificationDate] as? Date
  }

  @Test("is that of the representation, from the origin and from the store", arguments: [false, true])
  func whole(onDisk: Bool) async throws {
    let test = try TestSession(directory: onDisk ? folder.path("cache") : nil) { request in
      .ranged(request, length: Self.length, tag: "\"a\"", [("Cache-Control", "max-age=60"), Self.field])
    }
    for name in ["first", "second"] {
      try await test.session.download(for: test.request("/"), to: folder.url(name))
      #expect(try time(name) == Self.modified)
    }
    #expect(test.origin.requests.count == 1)
  }

  @Test(
    "is that of the representation if a 206 without Last-Modified continues it, beside the file or in the store",
    arguments: ["no-store", "max-age=60"])
  func continued(directive: String) async throws {
    let test = try TestSession(directory: folder.path("cache")) { request in
      let fields = [("Cache-Control", directive)]
      guard request.number == 1 else {
        return .ranged(request, length: Self.length, tag: "\"a\"", fields)
      }
      return .brokenOff(
        after: Self.first, of: Self.length, tag: "\"a\"", fields + [("Accept-Ranges", "bytes"), Self.field])
    }
    await #expect(throws: URLError.self) {
      try await test.session.download(for: test.request("/"), to: folder.url("target"))
    }
    try await test.session.download(for: test.request("/"), to: folder.url("target"))
    #expect(test.origin.requests.last?["Range"] != nil)
    #expect(try Array(Data(contentsOf: folder.url("target"))) == OriginAnswer.pattern(0..<Self.length))
    #expect(try time("target") == Self.modified)
  }
}
