// The origin of the other examples: ExampleOrigin PORT
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
let router = Router()

router.get("news.json") { _, _ in
  let news = """
    [{"title": "Caches hold", "summary": "Nothing had to be sent twice."},
     {"title": "Origins rest", "summary": "They were asked whether anything had changed."}]
    """
  return Response(
    status: .ok, headers: [.contentType: "application/json", .cacheControl: "max-age=60", .eTag: "\"1\""],
    body: ResponseBody(byteBuffer: ByteBuffer(string: news)))
}

/// Requests that the API still allows; requests that are answered with 304 do not count.
let remaining = Mutex(60)

router.get("repos/:owner/:name") { request, context in
  let name = context.parameters.get("name") ?? ""
  let tag = "\"\(name)-1\""
  let isKnown = request.headers[.ifNoneMatch] == tag
  let left = remaining.withLock { left in
    if !isKnown { left -= 1 }
    return left
  }
  var headers: HTTPFields = [
    .contentType: "application/json", .cacheControl: "private, max-age=60", .eTag: tag,
    .vary: "Accept, Authorization",
  ]
  if let limit = HTTPField.Name("X-RateLimit-Remaining") { headers[limit] = String(left) }
  if isKnown { return Response(status: .notModified, headers: headers) }
  return Response(
    status: .ok, headers: headers,
    body: ResponseBody(byteBuffer: ByteBuffer(string: #"{"name": "\#(name)", "stars": 42}"#)))
}

/// A body with the length and the date of a scan of the flight plan of Apollo 11.
let flightPlan = ByteBuffer(
  bytes: (0..<20_702_285).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) })

router.get("flight-plan.pdf") { _, _ in
  Response(
    status: .ok,
    headers: [
      .contentType: "application/pdf", .lastModified: "Sun, 19 May 2002 04:00:00 GMT",
      .acceptRanges: "bytes",
    ], body: ResponseBody(byteBuffer: flightPlan))
}

/// A photograph, if a small one: 24 x 16 pixels in five colors.
let photo = Data(
  base64Encoded: """
    iVBORw0KGgoAAAANSUhEUgAAABgAAAAQCAMAAAA7+k+nAAAAD1BMVEW/VFOkbH1cGGAxDWI7FpDjdjg5AAAAcUlEQVQY042NUQ7AMAhCVbj/mQfW\
    ptvHlpHWNDyoER9K6Z1k5F+QlTc9cBXSgakOggpCwvloRsIqC8d3UAZqUEVRNk0KjTw71T7JQOfBrngT7WsJtvyPbsensYFLtpM4gIuttN+xLA06\
    N0AnToY8ALwAMRICl5Xu1WwAAAAASUVORK5CYII=
    """)

router.get("photos/:name") { _, _ in
  Response(
    status: .ok, headers: [.contentType: "image/png", .cacheControl: "max-age=60"],
    body: ResponseBody(byteBuffer: ByteBuffer(bytes: photo ?? Data())))
}

try await Application(
  router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port))
).runService()
