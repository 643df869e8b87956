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
    do throws(StartFailure) { mode = try checkedMode(file) } catch { throw error.reported() }
    _ = try encryptionKey.encryption()
    for message in await UnresolvedUpstreams.messages(mode) { Console.report(message) }
    Console.print("\(file?.path ?? ""): valid")
  }

  /// The tokens that can be read, by the keys of their files.
  func tokens() -> [String: String] {
    let files = [("admin-token-file", admin.adminTokenFile), ("purge-token-file", purging.purgeTokenFile)]
    var tokens: [String: String] = [:]
    for case (let key, let path?) in files { tokens[key] = try? TokenFile(option: key, path: path).token() }
    return tokens
  }

  /// Where requests go, after reading the certificates, keys and tokens that the options name, as a start does.
  ///
  /// - Throws: `StartFailure` with the line of the file.
  func checkedMode(_ file: ServeFile?) throws(StartFailure) -> ProxyServer.Mode {
    do throws(StartFailure) {
      let mode = try serverMode(file)
      _ = try tls.listener()
      _ = try tls.originRoots()
      _ = try admin.access()
      _ = try purging.rights()
      return mode
    } catch {
      throw error.located(in: file)
    }
  }
}
