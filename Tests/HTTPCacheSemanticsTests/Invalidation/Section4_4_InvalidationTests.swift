import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section4_4_InvalidationTests {
  private func targets(
    _ method: HTTPRequest.Method, _ status: Int = 200, _ pairs: KeyValuePairs<String, String> = [:]
  ) throws -> [String] {
    Invalidation.targets(
      request: try get("/a/b?c", method: method), response: try response(status, pairs))
  }

  // holds 9111-4.4-1
  @Test("§4.4 Unsafe and unknown methods invalidate their target if they did not fail")
  func methods() throws {
    let unknown = try #require(HTTPRequest.Method("M-SEARCH"))
    for method in [HTTPRequest.Method.post, .put, .delete, .patch, unknown] {
      #expect(try targets(method) == ["https://example.com/a/b?c"])
      #expect(try targets(method, 303) == ["https://example.com/a/b?c"])
      #expect(try targets(method, 404) == [])
      #expect(try targets(method, 500) == [])
    }
    for method in [HTTPRequest.Method.get, .head, .options, .trace, .query] {
      #expect(try targets(method) == [])
    }
  }

  // holds 9111-4.4-2
  @Test("§4.4 Location and Content-Location count on the same origin only, each target once")
  func locations() throws {
    #expect(
      try targets(.post, 201, ["Location": "../x", "Content-Location": "https://EXAMPLE.com:443/y"])
        == ["https://example.com/a/b?c", "https://example.com/x", "https://example.com/y"])
    #expect(
      try targets(.post, 201, ["Location": "https://other.com/x", "Content-Location": "?c"])
        == ["https://example.com/a/b?c"])
    #expect(
      try targets(.post, 201, ["Location": "http://example.com/x", "Content-Location": "not a uri"])
        == ["https://example.com/a/b?c"])
    #expect(
      try targets(.post, 201, ["Location": "https://example.com:444/x"])
        == ["https://example.com/a/b?c"])
  }

  @Test("§4.4 The Destination of COPY and MOVE counts on the same origin (RFC 4918 §10.3)")
  func destination() throws {
    let destination = try #require(HTTPField.Name("Destination"))
    func targets(_ method: String, _ value: String, _ status: Int = 201) throws -> [String] {
      var request = try get("/a/b?c", method: try #require(HTTPRequest.Method(method)))
      request.headerFields[destination] = value
      return Invalidation.targets(request: request, response: try response(status, [:]))
    }
    let own = "https://example.com/a/b?c"
    for method in ["MOVE", "COPY"] {
      #expect(try targets(method, "https://EXAMPLE.com/y") == [own, "https://example.com/y"])
      #expect(try targets(method, "/y") == [own, "https://example.com/y"])
      #expect(try targets(method, "https://other.com/y") == [own])
      #expect(try targets(method, "/y", 412) == [])
    }
    #expect(try targets("PUT", "/y") == [own])
  }

  @Test("§4.4 A collection is invalidated without its members", arguments: ["DELETE", "MOVE", "COPY"])
  func collection(_ method: String) throws {
    let destination = try #require(HTTPField.Name("Destination"))
    let depth = try #require(HTTPField.Name("Depth"))
    var request = try get("/a/", method: try #require(HTTPRequest.Method(method)))
    request.headerFields[depth] = "infinity"
    if method != "DELETE" { request.headerFields[destination] = "https://example.com/b/" }
    let targets = Invalidation.targets(request: request, response: try response(204, [:]))
    #expect(targets == ["https://example.com/a/"] + (method == "DELETE" ? [] : ["https://example.com/b/"]))
  }
}
