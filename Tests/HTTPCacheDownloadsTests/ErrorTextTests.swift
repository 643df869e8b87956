import Foundation
import HTTPCacheDownloads
import HTTPCaching
import Testing

/// This file imports no other door: it does not compile if a conformance is elsewhere.
@Suite("Texts of errors without HTTPCacheURLSession", .timeLimit(.minutes(10))) struct ErrorTextTests {
  @Test("errors of the engine have texts for people with the queue of downloads alone")
  func texts() {
    let errors: [(any LocalizedError, String)] = [
      (CacheError(.tooLarge, "5 bytes"), "5 bytes"), (UpstreamError(.tls, "expired"), "tls: expired"),
      (OriginStatusError(status: 503), "503"), (RedirectLimitReached(limit: 3), "3 redirects"),
      (LengthContradiction(length: 300), "300 bytes"), (StorageRefusal.partialContent, "partial content"),
      (OfflineReason.notConnected, "no connection"),
      (HookFailure.timedOut(.seconds(1)), "did not return"),
      (TargetPatternError("a", "no URL"), "'a' is no pattern: no URL"),
      (SharedTierError(.timeout, "no PONG"), "timeout: no PONG"),
    ]
    for (error, part) in errors { #expect(error.localizedDescription.contains(part)) }
  }
}
