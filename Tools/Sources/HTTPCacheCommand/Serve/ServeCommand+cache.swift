import ArgumentParser
import Foundation
import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPCaching

extension ServeCommand {
  /// Opens the cache. If the directory cannot be used, opens it in memory with `--allow-no-cache`, else fails.
  ///
  /// - Throws: `ExitCode` after a message.
  func openCache(
    _ messages: LineWriter, observer: any CacheObserver, _ file: ServeFile?
  ) throws -> HTTPCache {
    var configuration = try cacheConfiguration(messages, observer, file)
    configuration.rules.overrides = file?.overrides ?? []
    do throws(CacheError) {
      return try HTTPCache.open(configuration, fallsBackToMemory: allowNoCache)
    } catch {
      throw refusing(error, messages, file)
    }
  }

  /// Reports that the directory cannot be used, and returns the error to throw.
  private func refusing(_ error: CacheError, _ messages: LineWriter, _ file: ServeFile?) -> ExitCode {
    messages.add("httpcache: \(StartFailure(directory: directory, error).located(in: file))\n")
    return ExitStatus(error.code).code
  }

  /// The directory of the cache.
  var directory: String {
    dir
      ?? CacheLocation.defaultDirectory(
        mode: mode == .shared ? .shared : .private, environment: ProcessInfo.processInfo.environment)
  }

  /// Whether no directory is used.
  var isMemoryOnly: Bool { disk?.bytes == 0 || recording.isMemoryOnly }

  func observer(_ messages: LineWriter) -> any CacheObserver {
    verbose
      ? LineObserver(writer: messages)
      : StoreFailureObserver(clock: SystemClock()) { messages.add("httpcache: \($0)\n") }
  }

  private func cacheConfiguration(
    _ messages: LineWriter, _ observer: any CacheObserver, _ file: ServeFile?
  ) throws -> HTTPCache.Configuration {
    var rules = CacheRules(mode: mode == .shared ? .shared : .private)
    rules.refusesSetCookie = refuseSetCookie
    rules.keepsSetCookie = keepSetCookie
    rules.refusesClientErrors = refuseClientErrors
    if !heuristics { rules.heuristicFraction = 0 }
    if mode == .shared { rules.targetedFields = ["CDN-Cache-Control"] }
    let objection = isMemoryOnly ? nil : UsableDirectory.objection(to: directory)
    if let objection {
      guard allowNoCache else { throw refusing(CacheError(.unavailable, objection), messages, file) }
      messages.add("httpcache: \(objection); storing in memory alone\n")
    }
    let locating = { StartFailure($0).located(in: file).description }
    return HTTPCache.Configuration(
      directory: isMemoryOnly || objection != nil ? nil : directory,
      memoryCapacity: memory.bytes - preparedAnswers,
      diskCapacity: disk?.bytes, largestEntry: largestEntry.limit,
      minimumFreeDiskSpace: minimumFree?.bytes, rules: rules,
      cacheStatusName: "httpcache", encryption: try encryptionKey.encryption(locating: locating),
      seeds: try seeds.open(locating: locating),
      observer: observer)
  }
  /// Writes counters every ten seconds, so that other processes see those of a server that runs for months, and returns
  /// memory after many connections have ended.
  static func keep(_ cache: HTTPCache, _ server: ProxyServer) async throws {
    var freeMemory = FreeMemory()
    while !Task.isCancelled {
      try await cache.configuration.clock.sleep(for: .seconds(10))
      await cache.flush()
      let highest = server.takeHighestConnectionCount()
      if freeMemory.isDue(highest: highest, current: server.connectionCount) { FreeMemory.giveBack() }
    }
  }
}
