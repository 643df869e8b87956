import HTTPCacheSemantics
import HTTPCacheTesting
import HTTPCaching
import Synchronization

@testable import HTTPCacheImages

/// An image cache over an origin whose pictures have versions, with a clock that stands still.
final class Gallery: Sendable {
  typealias Answer = @Sendable (ScriptedUpstream.Received) async -> ScriptedResponse?

  /// The versions of the pictures by path. A picture is gray: its value is its version.
  final class Versions: Sendable {
    private let numbers = Mutex<[String: UInt8]>([:])

    subscript(path: String) -> UInt8 {
      get { numbers.withLock { $0[path] ?? 1 } }
      set { numbers.withLock { $0[path] = newValue } }
    }
  }

  let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
  let decoder = CountingDecoder()
  let versions = Versions()
  let upstream: ScriptedUpstream
  let cache: HTTPCache
  let images: ImageCache
  private let folder: ScratchFolder?

  init(
    onDisk: Bool = false, cacheControl: String = "max-age=60", answer: Answer? = nil,
    configure: (inout ImageCache.Configuration) -> Void = { _ in }
  ) throws {
    upstream = ScriptedUpstream { [versions] request in
      if let special = await answer?(request) { return special }
      let version = versions[request.head.path ?? ""]
      let tag = "\"\(version)\""
      if request["if-none-match"] == tag {
        return .notModified(headers: ["ETag": tag, "Cache-Control": cacheControl])
      }
      return Self.response(CountingDecoder.bytes(version), ["ETag": tag, "Cache-Control": cacheControl])
    }
    folder = try onDisk ? ScratchFolder() : nil
    cache = try HTTPCache.open(
      HTTPCache.Configuration(
        directory: folder?.path("cache"), memoryCapacity: onDisk ? 0 : 64 << 20,
        diskCapacity: onDisk ? 64 << 20 : nil, largestEntry: .share(1), minimumFreeDiskSpace: 0, clock: clock)
    )
    var configuration = ImageCache.Configuration(formats: ImageFormats([decoder]))
    configure(&configuration)
    images = ImageCache(cache: cache, upstream: upstream, configuration: configuration)
  }

  /// An answer of the origin with a length.
  static func response(
    _ body: BodyBytes, _ fields: KeyValuePairs<String, String>, type: String = "image/x-test"
  ) -> ScriptedResponse {
    var response = ScriptedResponse(headers: fields, chunks: [body])
    response.head.headerFields[.contentType] = type
    response.head.headerFields[.contentLength] = "\(body.count)"
    response.announcedLength = Int64(body.count)
    return response
  }

  func request(
    _ path: String = "/a", _ processors: [any ImageProcessor] = [], priority: ImagePriority = .normal,
    policy: CachePolicy = .standard
  ) throws -> ImageRequest {
    try ImageRequest("https://example.com\(path)", processors: processors, priority: priority, policy: policy)
  }
}

extension DecodedImage {
  /// The gray value of the first pixel.
  var gray: UInt8? { pixel(x: 0, y: 0)?.x }
}
