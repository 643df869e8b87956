import HTTPCacheProxy

extension ServeCommand {
  /// Reads the file of `--config`; nil without one.
  ///
  /// - Throws: `ExitCode` after a message.
  func readFile() throws -> ServeFile? {
    do throws(ConfigFailure) {
      return try route.config.map { path throws(ConfigFailure) in try ServeFile(path) }
    } catch {
      Console.report("httpcache: \(error)")
      throw ExitStatus.usage.code
    }
  }

  /// Checks the file, and the files that it names.
  ///
  /// - Throws: `ExitCode` after a message.
  func check(_ file: ServeFile?) async throws {
    let mode: ProxyServer.Mode
    do throws(StartFailure) { (mode, _) = try modeAndFiles(file) } catch { throw error.reported() }
    _ = try encryptionKey.encryption()
    for message in await UnresolvedUpstreams.messages(mode) { Console.report(message) }
    Console.print("\(file?.path ?? ""): valid")
  }
}
