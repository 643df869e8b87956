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
    return try location.openCache()
  }

  /// How a change was made.
  enum Way {
    /// By this command.
    case here
    /// By the process that runs the queue, which was asked to.
    case asked

    /// A message about the change.
    func past(_ done: String, _ asked: String) -> String {
      self == .here ? done : "asked the process that runs the queue to \(asked)"
    }
  }

  /// Changes downloads, or asks the process that runs the queue to change them.
  ///
  /// - Parameter choose: returns the downloads to change, of all.
  /// - Returns: the number of changed downloads.
  /// - Throws: `ExitCode` after a message on standard error.
  func change(
    _ change: DownloadQueue.Change, _ choose: ([DownloadStatus]) throws -> [DownloadStatus]
  ) async throws -> (count: Int, Way) {
    let cache = try openCache()
    var settings = DownloadQueue.Configuration()
    settings.totalLimit = 0
    let queue: DownloadQueue
    do throws(DownloadError) {
      queue = try DownloadQueue(name: name, cache: cache, upstream: NoUpstream(), configuration: settings)
    } catch {
      guard error.code == .inUse else { throw QueueRun.reporting(error, name) }
      return (try ask(for: change, in: cache, choose), .asked)
    }
    let chosen = Result { try choose(queue.downloads) }
    for status in (try? chosen.get()) ?? [] { queue.apply(change, to: status.id) }
    await queue.close()
    return (try chosen.get().count, .here)
  }

  /// Asks the process that runs the queue to change downloads.
  ///
  /// - Parameter choose: returns the downloads to change, of all.
  /// - Returns: the number of downloads.
  /// - Throws: `ExitCode` after a message on standard error.
  func ask(
    for change: DownloadQueue.Change, in cache: HTTPCache,
    _ choose: ([DownloadStatus]) throws -> [DownloadStatus]
  ) throws -> Int {
    let downloads: [DownloadStatus]
    do throws(DownloadError) { downloads = try DownloadQueue.saved(name, in: cache) } catch {
      throw QueueRun.reporting(error, name)
    }
    let chosen = try choose(downloads)
    do throws(DownloadError) {
      try DownloadQueue.ask(for: change, of: chosen.map(\.id), queue: name, in: cache)
    } catch {
      throw QueueRun.reporting(error, name)
    }
    return chosen.count
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
      guard found.count == 1 || found.allSatisfy({ $0.download.url == name }) else {
        Console.report("httpcache: \(found.count) downloads have an identifier that begins with \(name)")
        throw ExitStatus.failure.code
      }
      return found
    }
  }

  /// The options that name a queue again, for a shell, with a space before each.
  static func arguments(queue: String?, _ location: CacheLocation) -> String {
    let options = [
      ("--queue", queue), ("--dir", location.directory),
      ("--encryption-key-file", location.encryptionKey.path),
    ]
    return options.map { name, value in value.map { " \(name) \(shellWord($0))" } ?? "" }.joined()
      + (location.modeFlag == .shared ? " --shared" : "")
  }

  /// A value as one word of a POSIX shell.
  private static func shellWord(_ value: String) -> String {
    let isPlain = value.utf8.allSatisfy { byte in
      UnicodeScalar(byte).properties.isAlphabetic && byte < 0x80 || (0x30...0x39).contains(byte)
        || "/._-+,:@%=".utf8.contains(byte)
    }
    guard !isPlain || value.isEmpty else { return value }
    return "'" + value.replacingOccurrences(of: "'", with: "'\\''") + "'"
  }
}
