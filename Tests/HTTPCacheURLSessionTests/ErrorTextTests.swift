import Foundation
import HTTPCacheDownloads
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

/// Errors as people read them.
@Suite(.timeLimit(.minutes(10))) struct ErrorTextTests {
  private let url = "https://user:secret@example.com/a?token=secret"

  private func session(_ responses: [ScriptedResponse]) -> CachedURLSession {
    CachedURLSession(
      cache: HTTPCache(
        configuration: HTTPCache.Configuration(), store: MemoryStore(capacity: 1 << 20)),
      via: ScriptedUpstream(responses), configuration: .ephemeral)
  }

  private func text(_ work: () async throws -> Void) async -> String {
    do {
      try await work()
      return ""
    } catch {
      return error.localizedDescription
    }
  }

  private func request() throws -> URLRequest { URLRequest(url: try #require(URL(string: url))) }

  @Test("a failure names the URL without secrets, and the reason")
  func failure() async throws {
    let request = try request()
    let session = session([.failure(UpstreamError(.unreachable, "no route"))])
    let text = await text { _ = try await session.data(for: request) }
    #expect(text == "https://example.com/a: no route")
  }

  @Test("so does a request that must not load")
  func cacheOnly() async throws {
    let request = try request()
    let session = session([])
    let text = await text { _ = try await session.data(for: request, cachePolicy: .cacheOnly) }
    #expect(text.hasPrefix("https://example.com/a: "))
  }

  @Test("an unexpected status names the URL and the status")
  func status() async throws {
    let request = try request()
    let session = session([.init(status: 404, body: "{}")])
    let text = await text { _ = try await session.value(of: [Int].self, for: request) }
    #expect(text == "https://example.com/a answered with status 404")
  }

  @Test("a missing destination folder is named, and nothing is loaded")
  func folder() async throws {
    let request = try request()
    let session = session([])
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("missing-\(UUID())")
    let text = await text {
      try await session.download(for: request, to: folder.appendingPathComponent("file"))
    }
    #expect(text.hasSuffix("the folder \(folder.path) does not exist"))
  }

  @Test("errors of the cache have texts")
  func cacheErrors() {
    let errors: [(any Error, String)] = [
      (CacheError(.tooLarge, "5 bytes"), "5 bytes"), (UpstreamError(.tls, "expired"), "expired"),
      (OriginStatusError(status: 503), "503"), (RedirectLimitReached(limit: 3), "3 redirects"),
      (LengthContradiction(length: 300), "300 bytes"),
      (HookFailure.timedOut(.seconds(1)), "did not return"),
      (TargetPatternError("a", "no URL"), "'a' is no pattern: no URL"),
      (DownloadError(.invalidName, "a b"), "a b"), (DownloadFailure(.gone, "404"), "404"),
      (SharedTierError(.timeout, "no PONG"), "timeout: no PONG"),
    ]
    for (error, part) in errors { #expect(error.localizedDescription.contains(part)) }
  }
}
