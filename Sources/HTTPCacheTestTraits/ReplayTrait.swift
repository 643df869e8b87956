import Foundation
public import HTTPCacheArchives
import HTTPCacheStore
public import HTTPCaching
public import Testing

/// Runs a test or a suite with a `ReplayUpstream`: `.replaying("fixtures/api.har")`.
public struct ReplayTrait: TestTrait, SuiteTrait, TestScoping {
  /// The path of the recording.
  let path: String
  let matching: ReplayMatching
  let secrets: RecordingSecrets
  let origin: (any Upstream)?

  /// Once around a test with all its arguments, or around a suite.
  public func scopeProvider(for test: Test, testCase: Test.Case?) -> ReplayTrait? {
    testCase == nil ? self : nil
  }

  /// Opens the recording, and writes it afterwards if it was recorded.
  ///
  /// - Throws: what the test throws; `CacheError` if the recording cannot be read or written.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let upstream = try ReplayUpstream(
      path: path, mode: try Self.mode(), matching: matching, secrets: secrets, origin: origin)
    try await ReplayUpstream.$current.withValue(upstream) { try await function() }
    try await upstream.finish()
  }

  private static func mode() throws -> ReplayMode {
    guard let name = ProcessInfo.processInfo.environment["HTTPCACHE_REPLAY"] else { return .replay }
    guard let mode = ReplayMode(rawValue: name) else {
      throw UnknownMode(description: "HTTPCACHE_REPLAY is \(name): \(ReplayMode.allCases.map(\.rawValue))")
    }
    return mode
  }

  private struct UnknownMode: Error, CustomStringConvertible {
    let description: String
  }
}

extension Trait where Self == ReplayTrait {
  /// Answers the requests of `ReplayUpstream.current` from a recording.
  ///
  /// ```swift
  /// @Test(.replaying("fixtures/api.har"))
  /// func names() async throws {
  ///   let origin = try #require(ReplayUpstream.current)
  ///   // …
  /// }
  /// ```
  ///
  /// The environment variable `HTTPCACHE_REPLAY` has the mode, `replay` without it: with `recordMissing` or `recordAll`
  /// the test asks `origin` and writes the recording.
  ///
  /// - Parameters:
  ///   - path: a HAR file, relative to the folder of the test's source file.
  ///   - matching: the parts of a request that must be equal, beside method and target.
  ///   - secrets: parts of requests and responses that are not recorded.
  ///   - origin: where requests go in the modes that record.
  ///   - file: the test's source file.
  public static func replaying(
    _ path: String, matching: ReplayMatching = ReplayMatching(),
    secrets: RecordingSecrets = RecordingSecrets(), origin: (any Upstream)? = nil, file: String = #filePath
  ) -> ReplayTrait {
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
    return ReplayTrait(
      path: URL(fileURLWithPath: path, relativeTo: folder).path, matching: matching, secrets: secrets,
      origin: origin)
  }
}

extension ReplayUpstream {
  /// The recording of the test that runs, with the trait `replaying`.
  @TaskLocal public static var current: ReplayUpstream?
}
