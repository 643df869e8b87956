import Foundation
import HTTPCacheDownloads
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

/// A queue of downloads whose upstream is a real `URLSession`.
@Suite(.timeLimit(.minutes(10))) struct QueueOverURLSessionTests {
  private static let length: Int64 = 3_000_000
  private static let fields = [("Cache-Control", "max-age=60")]

  @Test("a download that breaks off is continued; ranges arrive at once", arguments: [1, 4])
  func arrives(segments: Int) async throws {
    let folder = try ScratchFolder()
    let origin = try SocketOrigin { request in
      guard request.number == 1, segments == 1 else {
        return .ranged(request, length: Self.length, tag: "\"a\"", Self.fields)
      }
      return OriginAnswer(
        fields: [("ETag", "\"a\""), ("Accept-Ranges", "bytes")] + Self.fields,
        steps: [.pattern(0..<1_000_000), .cut], framing: .length(Self.length))
    }
    let cache = try HTTPCache.open(
      HTTPCache.Configuration(
        directory: folder.path("cache"), memoryCapacity: 0, diskCapacity: 64 << 20,
        largestEntry: .share(1)))
    let queue = try DownloadQueue(name: "films", cache: cache, upstream: URLSessionUpstream())
    var download = try Download(origin.url("/film").absoluteString, to: folder.path("film"))
    download.segments = segments
    let id = try queue.add(download)
    let status = await queue.finished(id)
    #expect(status?.state == .done(.fetched))
    #expect(status?.restarts == 0)
    #expect(try Array(Data(contentsOf: folder.url("film"))) == OriginAnswer.pattern(0..<Self.length))
    #expect(try await cache.file(for: download.request) != nil)
    let asked = origin.requests
    #expect(asked.dropFirst().allSatisfy { $0["If-Range"] == "\"a\"" && $0["Range"] != nil })
    #expect(asked.count > 1)
    await queue.close()
  }
}
