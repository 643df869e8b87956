import Foundation
import HTTPCacheURLSession
import HTTPCaching

/// The steps that each way to load takes, and the notes about them.
struct ComparedSteps {
  let client: ComparedClient
  let origin: SocketOrigin
  private(set) var results: [(step: String, result: String)] = []

  init(_ client: ComparedClient) throws {
    self.client = client
    origin = try SocketOrigin { Self.answer($0) }
  }

  private static func answer(_ request: OriginRequest) -> OriginAnswer {
    let fresh = ("Cache-Control", "max-age=600")
    switch request.path {
    case "/fresh", "/query", "/download": return .text(request.target, [fresh])
    case "/stale": return .tagged("\"a\"", request, .text("stale", [("Cache-Control", "max-age=0")]))
    case "/no-store": return .text("secret", [("Cache-Control", "no-store")])
    case "/vary":
      return .text(request["Accept-Language"] ?? "", [fresh, ("Vary", "Accept-Language")])
    case "/moved": return .redirect(to: "/fresh?moved", status: 301, [fresh])
    case "/missing": return .text("none", [fresh], status: 404)
    case "/zipped": return .gzip("unzipped", [fresh])
    case "/ranges": return .ranged(request, length: 1000, tag: "\"r\"", [fresh])
    case "/old": return .text("old", [("Cache-Control", "max-age=0"), ("ETag", "\"o\"")])
    default: return .text(request.method, [fresh])
    }
  }

  mutating func run() async {
    await loading()
    await selecting()
    await policies()
    await rest()
    client.end()
    origin.stop()
  }

  private mutating func loading() async {
    await step("The same URL twice, `max-age=600`") { try await $0.ask("/fresh", "/fresh") }
    await step("The same URL twice, stale with an `ETag`") { steps in
      let asked = try await steps.ask("/stale", "/stale")
      let isConditional = steps.origin.requests.last?["If-None-Match"] != nil
      return asked + (isConditional ? ", the second time with `If-None-Match`" : ", in full each time")
    }
    await step("The same URL twice, `no-store`") { try await $0.ask("/no-store", "/no-store") }
    await step("301 with `max-age=600`, twice") { try await $0.ask("/moved", "/moved") }
    await step("404 with `max-age=600`, twice") { try await $0.ask("/missing", "/missing") }
    await step("gzip, twice") { try await $0.ask("/zipped", "/zipped") }
  }

  private mutating func selecting() async {
    await step("`/query?user=1`, then `/query?user=2`") { steps in
      let asked = try await steps.ask("/query?user=1", "/query?user=2")
      let last = try await steps.text("/query?user=2")
      return asked + (last == "/query?user=2" ? ", each its own" : ", the wrong body")
    }
    await step("`Vary: Accept-Language`: de, en, de, en") { steps in
      let before = steps.origin.requests.count
      var right = 0
      for language in ["de", "en", "de", "en"] {
        var request = steps.request("/vary")
        request.setValue(language, forHTTPHeaderField: "Accept-Language")
        if try await steps.text(request) == language { right += 1 }
      }
      return "\(steps.asked(since: before)), \(right) of 4 right"
    }
    await step("GET, then HEAD of the same URL") { steps in
      let before = steps.origin.requests.count
      _ = try await steps.text("/fresh?head")
      var head = steps.request("/fresh?head")
      head.httpMethod = "HEAD"
      _ = try await steps.text(head)
      return steps.asked(since: before)
    }
    await step("GET, then `Range: bytes=10-19` of the same URL") { steps in
      let before = steps.origin.requests.count
      _ = try await steps.client.load(steps.request("/ranges"))
      var part = steps.request("/ranges")
      part.setValue("bytes=10-19", forHTTPHeaderField: "Range")
      let (data, response) = try await steps.client.load(part)
      let isRight = Array(data) == OriginAnswer.pattern(10..<20)
      let status = (response as? HTTPURLResponse)?.statusCode ?? 0
      return "\(steps.asked(since: before)), \(status)\(isRight ? "" : ", the wrong bytes")"
    }
    await step("GET, PUT, GET of the same URL, `max-age=600`") { steps in
      let before = steps.origin.requests.count
      _ = try await steps.text("/thing")
      var put = steps.request("/thing")
      put.httpMethod = "PUT"
      put.httpBody = Data("new".utf8)
      _ = try await steps.text(put)
      _ = try await steps.text("/thing")
      return steps.asked(since: before)
    }
  }

  private mutating func policies() async {
    let all: [(String, URLRequest.CachePolicy)] = [
      ("useProtocolCachePolicy", .useProtocolCachePolicy),
      ("reloadIgnoringLocalCacheData", .reloadIgnoringLocalCacheData),
      ("reloadIgnoringLocalAndRemoteCacheData", .reloadIgnoringLocalAndRemoteCacheData),
      ("returnCacheDataElseLoad", .returnCacheDataElseLoad),
      ("returnCacheDataDontLoad", .returnCacheDataDontLoad),
      ("reloadRevalidatingCacheData", .reloadRevalidatingCacheData),
    ]
    for (name, policy) in all {
      for (state, path) in [("fresh", "/fresh?\(name)"), ("stale", "/stale?\(name)")] {
        await step("`.\(name)`, \(state)") { steps in
          _ = try await steps.text(path)
          return try await steps.ask(steps.request(path, policy))
        }
      }
    }
    await step("`.returnCacheDataDontLoad`, nothing stored") { steps in
      try await steps.ask(steps.request("/fresh?nothing", .returnCacheDataDontLoad))
    }
  }

  private mutating func rest() async {
    await step("Download of the same URL, twice") { steps in
      let before = steps.origin.requests.count
      for _ in 0..<2 {
        let (data, _) = try await steps.client.download(steps.request("/download"))
        if data != Data("/download".utf8) { return "the wrong file" }
      }
      return steps.asked(since: before)
    }
    await step("GET, then download of the same URL") { steps in
      let before = steps.origin.requests.count
      _ = try await steps.text("/download?got")
      _ = try await steps.client.download(steps.request("/download?got"))
      return steps.asked(since: before)
    }
    await step("Stale, and the origin is gone") { steps in
      _ = try await steps.text("/old")
      steps.origin.stop()
      return "answered with `\(try await steps.text("/old"))`"
    }
  }

  // MARK: Asking

  private mutating func step(
    _ name: String, _ work: (ComparedSteps) async throws -> String
  ) async {
    do {
      results.append((name, try await work(self)))
    } catch let error as URLError {
      results.append((name, "error \(error.code.rawValue)"))
    } catch {
      results.append((name, "error"))
    }
  }

  private func request(
    _ path: String, _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy
  ) -> URLRequest { URLRequest(url: origin.url(path), cachePolicy: policy) }

  private func text(_ path: String) async throws -> String { try await text(request(path)) }

  private func text(_ request: URLRequest) async throws -> String {
    String(decoding: try await client.load(request).data, as: UTF8.self)
  }

  private func ask(_ paths: String...) async throws -> String {
    let before = origin.requests.count
    for path in paths { _ = try await text(path) }
    return asked(since: before)
  }

  private func ask(_ request: URLRequest) async throws -> String {
    let before = origin.requests.count
    _ = try await text(request)
    let isConditional = origin.requests.dropFirst(before).contains { $0["If-None-Match"] != nil }
    return asked(since: before) + (isConditional ? ", with `If-None-Match`" : "")
  }

  private func asked(since before: Int) -> String {
    switch origin.requests.count - before {
    case 0: "origin not asked"
    case 1: "origin asked once"
    case let count: "origin asked \(count) times"
    }
  }
}
