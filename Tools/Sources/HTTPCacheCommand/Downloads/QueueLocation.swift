import ArgumentParser
import Foundation
import HTTPCacheDownloads
import HTTPCaching

/// The queue that a command works on.
struct QueueLocation: ParsableArguments {
  @Option(
    name: .customLong("queue"),
    help: ArgumentHelp("The queue (default: \(QueueOptionGroup.defaultName)).", valueName: "name"))
  var queue: String?

  @OptionGroup var location: CacheLocation

  /// The name of the queue.
  var name: String { queue ?? QueueOptionGroup.defaultName }

  /// The cache with the queue; never makes a new one.
  ///
  /// - Throws: `ExitCode` after a message on standard error.
  func openCache() throws -> HTTPCache {
    guard FileManager.default.fileExists(atPath: location.path + "/Cache.db") else {
      Console.report("httpcache: there is no cache in \(location.path)")
      throw ExitStatus.cacheUnavailable.code
    }
    let encryption = try location.encryptionKey.encryption()
    do {
      return try HTTPCache.open(
        HTTPCache.Configuration(
          directory: location.path, memoryCapacity: 0, largestEntry: .share(0.5),
          rules: CacheRules(mode: location.mode), encryption: encryption))
    } catch {
      throw ExitStatus.reporting(error)
    }
  }

  /// Opens the queue without starting a download, and closes it after `body`.
  ///
  /// - Throws: `ExitCode` after a message on standard error.
  func withQueue(_ body: (DownloadQueue) async throws -> Void) async throws {
    var settings = DownloadQueue.Configuration()
    settings.totalLimit = 0
    let queue = try QueueRun.open(name, try openCache(), upstream: NoUpstream(), settings)
    do { try await body(queue) } catch {
      await queue.close()
      throw error
    }
    await queue.close()
  }

  /// The downloads that arguments name: identifiers, beginnings of identifiers, or URLs.
  ///
  /// - Throws: `ExitCode` after a message on standard error.
  static func find(_ names: [String], in downloads: [DownloadStatus]) throws -> [DownloadStatus] {
    try names.flatMap { name in
      let found = downloads.filter {
        $0.download.url == name || (name.count >= 4 && $0.id.description.hasPrefix(name.lowercased()))
      }
      guard !found.isEmpty else {
        Console.report("httpcache: no download has the identifier or URL \(name)")
        throw ExitStatus.failure.code
      }
      return found
    }
  }

  /// The options that name a queue again, with a space before them.
  static func arguments(queue: String?, _ location: CacheLocation) -> String {
    (queue.map { " --queue \($0)" } ?? "") + (location.directory.map { " --dir \($0)" } ?? "")
      + (location.modeFlag == .shared ? " --shared" : "")
  }
}

/// The way to no origin.
private struct NoUpstream: Upstream {
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    throw UpstreamError(.unreachable, "this command asks no origin")
  }
}
