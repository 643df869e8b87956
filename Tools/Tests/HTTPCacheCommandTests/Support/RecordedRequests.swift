import ServerTesting
import Testing

extension ScriptedOrigin {
  /// Runs `body` with an origin that answers 200 with `ok`, and returns the requests that it got.
  static func requests(
    _ answer: String = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    of body: (ScriptedOrigin) async throws -> Void
  ) async throws -> [String] {
    let origin = try await ScriptedOrigin(answer)
    try await body(origin)
    return origin.texts
  }

  /// Runs `get` with options and a path of an origin, and returns the requests that the origin got.
  static func requests(ofGet options: [String], path: String) async throws -> [String] {
    let directory = try ScratchFolder()
    return try await requests { origin in
      await CommandRun.success(
        ["get", "--dir", directory.path("cache"), origin.authority + path] + options)
    }
  }
}
