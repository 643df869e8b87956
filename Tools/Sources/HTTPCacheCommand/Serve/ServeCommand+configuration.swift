import ArgumentParser
import Foundation
import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPCaching
import Logging
import NIOCore
import NIOSSL

extension ServeCommand {
  /// Where requests go, and the certificates, keys and tokens that the options name.
  ///
  /// - Throws: `StartFailure` with the line of the file.
  func modeAndFiles(_ file: ServeFile?) throws(StartFailure) -> (ProxyServer.Mode, ServeFiles) {
    do throws(StartFailure) {
      return (try serverMode(file), try ServeFiles(self))
    } catch {
      throw error.located(in: file)
    }
  }

  /// The settings of the server and of its connections to origins, and the files that they come from. Opens the log.
  ///
  /// - Throws: `ExitCode` after a message.
  func configurations(
    _ messages: LineWriter, _ file: ServeFile?
  ) throws -> (ProxyServer.Configuration, NIOUpstream.Configuration, ServeFiles) {
    do throws(StartFailure) {
      let (mode, files) = try modeAndFiles(file)
      var origins = try upstreamConfiguration()
      let server = try serverConfiguration(messages, mode: mode, files: files)
      origins.logger = server.logger
      return (server, origins, files)
    } catch {
      throw error.located(in: file).reported()
    }
  }

  /// The settings of the connections to origins.
  ///
  /// - Throws: `StartFailure` for certificates to trust that cannot be used.
  func upstreamConfiguration() throws(StartFailure) -> NIOUpstream.Configuration {
    var configuration = NIOUpstream.Configuration()
    configuration.connectTimeout = .seconds(timeout)
    configuration.headTimeout = .seconds(timeout)
    configuration.connectionsPerOrigin = route.connectionsPerOrigin
    configuration.offersHTTP2 = tls.upstreamHttp2
    silence.apply(to: &configuration)
    configuration.tls.restrict(onlyTLS13: tls.tlsMinVersion == .tls13)
    if let roots = try tls.originRoots() { configuration.tls.trustRoots = roots }
    if route.forward { configuration.addresses = forwardOptions.addressRules(isRemote: route.isRemote) }
    return configuration
  }

  private func serverConfiguration(
    _ messages: LineWriter, mode: ProxyServer.Mode, files: ServeFiles
  ) throws(StartFailure) -> ProxyServer.Configuration {
    let descriptors = DescriptorLimit.raise()
    let level: Logger.Level = verbose ? .debug : .notice
    let logger = Logger(label: "httpcache") { LineLogHandler(label: $0, writer: messages, level: level) }
    var configuration = ProxyServer.Configuration(
      host: route.listen.host, port: route.listen.port, mode: mode)
    configuration.tls = files.tls
    configuration.accessLog = try log.open()
    configuration.logger = logger
    // Keep half of the descriptors for connections to origins and for body files.
    configuration.connectionLimit = min(configuration.connectionLimit, max(1, descriptors / 2))
    configuration.preparedAnswers = Int(clamping: preparedAnswers)
    silence.apply(to: &configuration)
    configuration.isHTTP2 = tls.http2
    configuration.isHTTP2WithoutTLS = tls.h2c
    configuration.trustedForwarders = gatewayOptions.trustForwarded
    configuration.purgeRights = files.purging
    if let count = route.connectionsPerClient {
      configuration.connectionsPerClient = count
      configuration.limitsLoopback = true
    }
    return configuration
  }

  /// The share of `--memory` for answers as the client gets them.
  var preparedAnswers: Int64 { min(memory.bytes / 16, 16 << 20) }

  /// Where requests go.
  ///
  /// - Throws: `StartFailure` if options and file contradict each other, or name no origin.
  func serverMode(_ file: ServeFile?) throws(StartFailure) -> ProxyServer.Mode {
    guard let gateway = ServeRecord(self, file).gateway else {
      guard file?.routes.isEmpty ?? true else {
        throw StartFailure(
          file?.failure(of: "routes", "routes do not go with forward").description ?? "", status: .usage)
      }
      return .forward(forwardOptions.rules(isRemote: route.isRemote))
    }
    let all = gateway.routes(file)
    guard !all.isEmpty else {
      throw StartFailure("\(file?.path ?? ""): has neither upstream, routes nor forward", status: .usage)
    }
    return .gateway(all)
  }
}

extension ServeCommand {
  /// Opens the cache. If the directory cannot be used, opens it in memory with `--allow-no-cache`, else fails.
  ///
  /// - Throws: `ExitCode` after a message.
  func openCache(
    _ messages: LineWriter, observer: any CacheObserver, _ file: ServeFile?, member: FleetMember? = nil
  ) throws -> HTTPCache {
    var configuration = try cacheConfiguration(messages, observer: observer, file: file)
    member?.apply(to: &configuration)
    let cache: HTTPCache
    do throws(CacheError) {
      cache = try HTTPCache.open(configuration, fallsBackToMemory: allowNoCache)
    } catch {
      throw refusing(error, messages: messages, file: file)
    }
    if let memoryWarning { messages.add("httpcache: warning: \(memoryWarning)\n") }
    return cache
  }

  /// Tells other commands how this server decides; nil if the server uses no directory.
  func makeNote(_ record: ServeRecord, _ messages: LineWriter) -> ServeNote? {
    isMemoryOnly ? nil : ServeNote(record, in: directory) { messages.add("httpcache: \($0)\n") }
  }

  /// Reports that the directory cannot be used, and returns the error to throw.
  private func refusing(_ error: CacheError, messages: LineWriter, file: ServeFile?) -> ExitCode {
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

  /// The memory of the cache, in bytes.
  private var memoryCapacity: Int64 { memory.bytes - preparedAnswers }

  /// Whether a small response has room in memory: with a few fields, the response takes about 2 KiB.
  private var hasMemory: Bool { memoryCapacity >= 2 << 10 }

  /// The warning that memory has no room for a small response; nil if memory has room, or the directory stores instead,
  /// as `--memory 0` asks.
  var memoryWarning: String? {
    guard !hasMemory, isMemoryOnly || memory.bytes > 0 else { return nil }
    let (place, size) = (isMemoryOnly ? "" : " in memory", HumanText.bytes(memory.bytes))
    let amount = memoryCapacity < 1 << 10 ? "nothing" : "almost nothing"
    return "\(amount) can be stored\(place): a small response takes about 2 KiB, and --memory is \(size)"
  }

  func observer(_ messages: LineWriter) -> any CacheObserver {
    verbose
      ? LineObserver(writer: messages)
      : StoreFailureObserver(clock: SystemClock(), hasMemory: hasMemory) {
        messages.add("httpcache: \($0)\n")
      }
  }

  private func cacheConfiguration(
    _ messages: LineWriter, observer: any CacheObserver, file: ServeFile?
  ) throws -> HTTPCache.Configuration {
    let objection = isMemoryOnly ? nil : UsableDirectory.objection(to: directory)
    if let objection {
      guard allowNoCache else {
        throw refusing(CacheError(.unavailable, objection), messages: messages, file: file)
      }
      messages.add(
        "httpcache: \(objection); storing in memory alone: purges do not reach what the directory has\n")
    }
    return HTTPCache.Configuration(
      directory: isMemoryOnly || objection != nil ? nil : directory,
      memoryCapacity: memoryCapacity,
      diskCapacity: disk?.bytes, largestEntry: largestEntry.limit,
      minimumFreeDiskSpace: minimumFree?.bytes, rules: ServeRecord(self, file).rules(file),
      cacheStatusName: "httpcache",
      encryption: try encryptionKey.encryption(
        locating: StartFailure.locating("encryption-key-file", in: file)),
      seeds: try seeds.open(locating: StartFailure.locating("seed", in: file)),
      observer: observer)
  }

  /// Writes counters every ten seconds, so that other processes see those of a server that runs for months, writes the
  /// note again if it is gone, and returns memory after many connections have ended.
  static func keep(_ cache: HTTPCache, server: ProxyServer, note: ServeNote?) async throws {
    var freeMemory = FreeMemory()
    while !Task.isCancelled {
      try await cache.configuration.clock.sleep(for: .seconds(10))
      await cache.flush()
      note?.renew()
      let highest = server.takeHighestConnectionCount()
      if freeMemory.isDue(highest: highest, current: server.connectionCount) { FreeMemory.giveBack() }
    }
  }
}

extension ServeCommand {
  /// Reads the file of `--config`; nil without one.
  ///
  /// - Throws: `ExitCode` after a message.
  func readFile() throws -> ServeFile? {
    do throws(ConfigFailure) {
      guard let path = route.config else { return nil }
      let file = try ServeFile(path)
      try file.checkOverrides(isShared: mode == .shared)
      return file
    } catch {
      Console.report("httpcache: \(error)")
      throw ExitStatus.usage.code
    }
  }
}

extension ServeCommand {
  /// Begins to listen for admin requests; nil without `--admin`.
  ///
  /// - Throws: `ExitCode` after a message.
  func startAdmin(
    _ routes: AdminRoutes, access: AdminAccess, group: any EventLoopGroup, logger: Logger, file: ServeFile?
  ) async throws -> AdminServer? {
    guard let address = admin.admin else { return nil }
    do {
      return try await AdminServer.start(
        host: address.host, port: address.port, access: access, group: group, logger: logger
      ) { await routes.answer($0) }
    } catch {
      throw StartFailure(listening: address, key: "admin", error).located(in: file).reported()
    }
  }
}
