// The Swift of docs/any-client.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheSemantics
import HTTPCaching

extension HTTPFields {
  init(_ pairs: [(String, String)]) {
    self.init()
    for (name, value) in pairs {
      // At most `HTTPFields.countLimit`: beyond 65,534 fields, `append` ends the process.
      guard let name = HTTPField.Name(name), appendBounded(HTTPField(name: name, value: value)) else { continue }
    }
  }
}

private func program1() async throws {
  typealias Fields = [(String, String)]

  /// Stands for the response of your client or server.
  struct Message: Sendable {
    var status: Int
    var fields: Fields
    var body: [UInt8]
  }

  struct ClientUpstream: Upstream {
    let fetch: @Sendable (_ method: String, _ url: String, _ fields: Fields) async throws -> Message

    func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
      let head = request.head
      let url = "\(head.scheme ?? "https")://\(head.authority ?? "")\(head.path ?? "/")"
      do {
        let reply = try await fetch(
          head.method.rawValue, url, head.headerFields.map { ($0.name.rawName, $0.value) })
        return UpstreamResponse(
          head: HTTPResponse(status: .init(code: reply.status), headerFields: HTTPFields(reply.fields)),
          body: MessageBody(BodyBytes(reply.body)))
      } catch {
        throw UpstreamError(.unreachable, "\(url): \(error)", cause: error)
      }
    }
  }

  let cache = try HTTPCache.open(HTTPCache.Configuration(rules: CacheRules(mode: .shared)))
  let routes = ClientUpstream { method, url, fields in
    Message(status: 200, fields: [("Cache-Control", "max-age=60")], body: Array("made for \(url)".utf8))
  }

  @Sendable func handle(_ method: String, path: String, fields: Fields) async throws -> Message {
    let request = HTTPRequest(
      method: HTTPRequest.Method(method) ?? .get, scheme: "https", authority: "www.example.com", path: path,
      headerFields: HTTPFields(fields))
    let response = try await cache.respond(
      to: request, options: RequestOptions(redirectLimit: 0, bodyForms: .asSent), via: routes)
    return Message(
      status: response.head.status.code,
      fields: response.head.headerFields.map { ($0.name.rawName, $0.value) },
      body: try await response.body.collect().array)
  }
  print(try await handle("GET", path: "/", fields: []).status)
}
