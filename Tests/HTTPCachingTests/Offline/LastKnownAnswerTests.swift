import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("The last known answer stays until the resource is gone or changed", .timeLimit(.minutes(10)))
struct LastKnownAnswerTests {
  private let test = TestCache()

  private func request(_ fields: HTTPFields = [:]) -> HTTPRequest {
    HTTPRequest(method: .get, scheme: "http", authority: "example.com", path: "/", headerFields: fields)
  }

  private func get() async throws -> (status: Int, text: String) {
    var options = RequestOptions()
    options.redirectLimit = 0
    let response = try await test.cache.respond(to: request(), options: options, via: test.origin)
    return (
      response.head.status.code, String(decoding: try await response.body.collect().array, as: UTF8.self)
    )
  }

  /// Stores a response, lets it become stale, and gets another answer.
  private func after(_ status: Int, _ fields: HTTPFields, _ body: String = "other") async throws {
    test.origin.always(
      200, [.cacheControl: "max-age=10", .eTag: "\"1\"", .contentType: "application/json"], "one")
    #expect(try await get().text == "one")
    test.clock.advance(by: 20)
    test.origin.always(status, fields, body)
    #expect(try await get().status == status)
    test.origin.fails(.unreachable)
  }

  @Test(
    "any 4xx but 404 and 410, and a redirect for now",
    arguments: [
      400, 401, 402, 403, 405, 406, 407, 408, 409, 412, 413, 418, 421, 422, 423, 425, 426, 428, 429, 431, 451,
      302, 303, 307,
    ])
  func stays(status: Int) async throws {
    try await after(status, [.location: "http://portal.example/"])
    #expect(try await get().text == "one")
    #expect(try await test.cache.entries().entries.map(\.record.response.isInvalidated) == [false])
  }

  @Test(
    "whatever its directives say, unless it is fresh",
    arguments: [
      "no-store", "private", "private, max-age=0", "no-cache", "max-age=0, must-revalidate", "public",
    ])
  func directives(_ value: String) async throws {
    try await after(403, [.cacheControl: value])
    #expect(try await get().text == "one")
  }

  @Test("an error with a lifetime replaces it for that time")
  func fresh() async throws {
    try await after(403, [.cacheControl: "max-age=60"])
    #expect(try await get().status == 403)
  }

  @Test(
    "gone or changed ends its use",
    arguments: [(404, ""), (410, ""), (200, "no-store"), (301, "no-store"), (308, "no-store")])
  func ends(status: Int, directives: String) async throws {
    try await after(status, directives.isEmpty ? [:] : [.cacheControl: directives, .location: "/b"])
    let result = try? await get()
    #expect(result?.text != "one")
  }

  @Test(
    "the page of a captive portal is passed on, not stored, and leaves it",
    arguments: ["", "no-store", "no-cache, no-store", "max-age=0"])
  func portal(_ directives: String) async throws {
    var fields: HTTPFields = [.contentType: "text/html; charset=utf-8"]
    if !directives.isEmpty { fields[.cacheControl] = directives }
    try await after(200, fields, "<html>Log in</html>")
    #expect(try await get().text == "one")
  }

  @Test(
    "a page with a validator or a lifetime is a change",
    arguments: [HTTPField.Name.eTag, .lastModified, .cacheControl])
  func page(_ name: HTTPField.Name) async throws {
    let values: [HTTPField.Name: String] = [
      .eTag: "\"2\"", .lastModified: "Tue, 14 Nov 2023 00:00:00 GMT", .cacheControl: "max-age=60",
    ]
    try await after(200, [.contentType: "text/html", name: values[name] ?? ""], "page")
    #expect(try await get().text == "page")
  }
}
