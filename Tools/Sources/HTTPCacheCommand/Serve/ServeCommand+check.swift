import ArgumentParser
import HTTPCacheLibC
import HTTPCacheProxy
import HTTPCaching
import NIOCore

extension ServeCommand {
  /// Checks the file, and what a start needs: other files, the directory and the listeners. Makes no file or folder.
  ///
  /// - Throws: `ExitCode` after a message.
  func check(_ file: ServeFile?) async throws {
    let mode: ProxyServer.Mode
    do throws(StartFailure) {
      (mode, _) = try modeAndFiles(file)
      _ = try upstreamConfiguration()
      try log.check()
    } catch {
      throw error.located(in: file).reported()
    }
    _ = try encryptionKey.encryption(locating: StartFailure.locating("encryption-key-file", in: file))
    _ = try seeds.open(locating: StartFailure.locating("seed", in: file))
    _ = try recording.upstream(over: NoUpstream())
    try await checkFleet(file)
    try checkDirectory(file)
    try checkAddresses(file, isInUseFailure: false)
    if let memoryWarning { Console.report("httpcache: warning: \(memoryWarning)") }
    for message in await UnresolvedUpstreams.messages(mode) { Console.report(message) }
    Console.print("\(file?.path ?? ""): valid")
  }

  /// Checks the directory of the cache. Does not open the cache in it: the user of this command may be another than the
  /// server's, and would own the files that SQLite makes beside the index.
  private func checkDirectory(_ file: ServeFile?) throws {
    guard !isMemoryOnly,
      let objection = UsableDirectory.objection(to: directory) ?? UsableDirectory.obstacle(to: directory)
        ?? UsableDirectory.objection(to: directory, holding: log.path)
    else { return }
    guard allowNoCache else {
      let failure = StartFailure(directory: directory, CacheError(.unavailable, objection)).located(in: file)
      Console.report("httpcache: \(failure)")
      throw ExitStatus.cacheUnavailable.code
    }
    Console.report("httpcache: warning: \(objection); the server would store in memory alone")
  }

  /// Binds all addresses for a moment.
  ///
  /// - Parameter isInUseFailure: whether an address in use is a failure; else a warning, since it may be that of the
  ///   running server, whose new configuration is checked.
  /// - Throws: `ExitCode` after a message.
  func checkAddresses(_ file: ServeFile?, isInUseFailure: Bool = true) throws {
    var checked: [SocketAddress] = []
    let addresses: [(key: String, address: ListenAddress?)] = [
      ("listen", route.listen), ("admin", admin.admin),
    ]
    for (key, address) in addresses {
      guard let address else { continue }
      do {
        let bound = try BoundSocket(address)
        if checked.contains(where: { $0.overlaps(bound.address) }) {
          throw IOError(errnoCode: EADDRINUSE, reason: "bind")
        }
        checked.append(bound.address)
      } catch let error as IOError
        where !isInUseFailure && error.errnoCode == EADDRINUSE
        && !checked.contains(where: { $0.port == address.port })
      {
        Console.report(
          "httpcache: warning: \(address) is in use; unless that is the server that this file is for, a start fails"
        )
      } catch {
        throw StartFailure(listening: address, key: key, error).located(in: file).reported()
      }
    }
  }
}
