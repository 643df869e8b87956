import HTTPCacheStore
import HTTPCaching
import HTTPTypes
import Synchronization

/// An origin that answers with method, path and the number of the request.
final class CountingOrigin: Upstream {
  private let number = Atomic(0)

  var count: Int { number.load(ordering: .relaxed) }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let number = number.add(1, ordering: .relaxed).newValue
    if request.head.headerFields[.ifNoneMatch] != nil {
      return UpstreamResponse(head: HTTPResponse(status: .notModified), body: .empty)
    }
    // Without the query, which may have secrets.
    let path = String((request.head.path ?? "").prefix { $0 != "?" })
    var (body, type) = (Array("\(request.head.method) \(path) \(number)".utf8), "text/plain")
    if path == "/long" { body = [UInt8](repeating: UInt8(ascii: "x"), count: 300_000) }
    if path == "/bytes" {
      (body, type) = ([UInt8](repeating: 0xFF, count: 300_000), "application/octet-stream")
    }
    let head = HTTPResponse(
      status: .ok,
      headerFields: [
        .contentType: type, .eTag: "\"\(number)\"", .contentLength: String(body.count),
        .setCookie: "a=hidden4", .contentLocation: path + "?lang=en&key=hidden5",
      ])
    return UpstreamResponse(
      head: head, body: path == "/cut" ? MessageBody(CutSource()) : MessageBody(BodyBytes(body)))
  }

  private final class CutSource: BodySource {
    let length: Int64? = nil
    let trailers: HTTPFields = [:]
    func next() async throws -> BodyBytes? { throw UpstreamError(.protocol, "cut") }
    func cancel() {}
  }
}
