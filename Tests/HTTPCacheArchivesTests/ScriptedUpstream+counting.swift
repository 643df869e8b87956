import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import HTTPTypes

extension ScriptedUpstream {
  /// An origin that answers with method, path and the number of the request.
  static func counting() -> ScriptedUpstream {
    let requests = Counter()
    return ScriptedUpstream { request in
      let number = requests.increment()
      if request["If-None-Match"] != nil { return .notModified() }
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
      let isCut = path == "/cut"
      return ScriptedResponse(
        head: head, steps: [isCut ? .fail(UpstreamError(.protocol, "cut")) : .bytes(BodyBytes(body))],
        announcedLength: isCut ? nil : Int64(body.count))
    }
  }
}
