import Foundation
import HTTPCaching

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The way to the origin: any HTTP client will do. This one is URLSession's, body in one piece.
struct SessionUpstream: Upstream {
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let (scheme, authority) = (request.head.scheme ?? "", request.head.authority ?? "")
    guard let url = URL(string: "\(scheme)://\(authority)\(request.head.path ?? "/")") else {
      throw UpstreamError(.protocol, "not a URL")
    }
    var outgoing = URLRequest(url: url)
    outgoing.httpMethod = request.head.method.rawValue
    for field in request.head.headerFields {
      outgoing.addValue(field.value, forHTTPHeaderField: field.name.rawName)
    }
    do {
      let (data, response) = try await URLSession.shared.data(for: outgoing)
      guard let response = response as? HTTPURLResponse else {
        throw UpstreamError(.protocol, "not an HTTP response")
      }
      var fields = HTTPFields()
      for case (let name as String, let value as String) in response.allHeaderFields {
        if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
      }
      return UpstreamResponse(
        head: HTTPResponse(status: .init(code: response.statusCode), headerFields: fields),
        body: MessageBody(BodyBytes(data)), isContentDecoded: true)
    } catch {
      throw error as? UpstreamError ?? UpstreamError(.unreachable, "\(error)", cause: error)
    }
  }
}

let directory = NSTemporaryDirectory() + "/httpcache-example"
let cache = try HTTPCache.open(HTTPCache.Configuration(directory: directory))
let address = CommandLine.arguments.dropFirst().first ?? "https://www.example.com/"
guard let url = URL(string: address), let host = url.host() else { exit(64) }
let request = HTTPRequest(
  method: .get, scheme: url.scheme, authority: url.port.map { "\(host):\($0)" } ?? host,
  path: url.path().isEmpty ? "/" : url.path())

for _ in 1...2 {
  let response = try await cache.respond(
    to: request, options: RequestOptions(acceptsDecoded: true), via: SessionUpstream())
  let body = try await response.body.collect()
  print(response.head.status, body.count, "bytes:", response.outcome)
}
await cache.flush()
