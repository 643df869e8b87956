// The Swift of Sources/HTTPCaching/HTTPCaching.docc/HTTPCaching.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCaching

private func program1() async throws {
  struct EchoUpstream: Upstream {
    func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
      UpstreamResponse(
        head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]),
        body: MessageBody(BodyBytes(Array("hello".utf8))))
    }
  }

  let cache = try HTTPCache.open(.userCaches("com.example.app"))
  let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
  let response = try await cache.respond(to: request, via: EchoUpstream())
  let body = try await response.body.collect(upTo: 1 << 20)
  print(response.head.status, body.count, response.outcome)
}
