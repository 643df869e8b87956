import ArgumentParser
import HTTPCacheLibC
import HTTPCacheProxy

/// The options that a server was started with. SIGHUP reads them again.
struct RunningServe {
  /// The keys whose values a running server takes.
  private static let live: Set<String> = [
    "upstream", "preserve-host", "tls-certificate", "tls-key", "client-ca", "admin-token-file",
    "purge-token-file",
  ]

  let command: ServeCommand
  let file: ServeFile?
  let files: ServeFiles
  /// The note for other commands; nil if the server uses no directory.
  let note: ServeNote?

  /// Does what SIGHUP and SIGUSR1 ask for. What cannot be read stays as it was.
  func reload(after number: Int32, server: ProxyServer, log: AccessLog, messages: LineWriter) {
    do throws(AccessLog.OpenFailure) {
      try log.reopen()
    } catch {
      messages.add("httpcache: the access log stays where it was: \(error.description)\n")
    }
    guard number == SIGHUP else { return }
    if file == nil { reloadFiles(server, messages) } else { reloadConfiguration(server, messages) }
  }

  private func reloadFiles(_ server: ProxyServer, _ messages: LineWriter) {
    guard files.hasChangeable else { return }
    do {
      _ = try files.replace(with: try ServeFiles(command), in: server)
      messages.add("httpcache: certificates and tokens were read again\n")
    } catch {
      messages.add("httpcache: certificates and tokens stay as they were: \(error)\n")
    }
  }

  private func reloadConfiguration(_ server: ProxyServer, _ messages: LineWriter) {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      guard let new = try HTTPCacheCommand.parsedWithFile(arguments) as? ServeCommand,
        let old = file, let path = new.route.config
      else { return }
      let newFile = try ServeFile(path)
      try newFile.checkOverrides(isShared: new.mode == .shared)
      let (mode, newFiles) = try new.modeAndFiles(newFile)
      let later = Self.changes(old, newFile) + (try files.replace(with: newFiles, in: server))
      if new.route.forward == command.route.forward, !new.route.forward {
        server.setMode(mode)
        // The rules stay those of the start, except for overrides, which need a restart.
        var record = ServeRecord(command, newFile, port: server.port)
        record.gateway = ServeRecord(new, newFile).gateway
        note?.write(record)
      }
      Task { for message in await UnresolvedUpstreams.messages(mode) { messages.add(message + "\n") } }
      messages.add("httpcache: \(path) was read again\n")
      if !later.isEmpty {
        messages.add(
          "httpcache: changes of these keys count after a restart: \(later.joined(separator: ", "))\n")
      }
    } catch {
      let text = (error as? ConfigFailure)?.description ?? HTTPCacheCommand.message(for: error)
      messages.add("httpcache: the configuration stays as it was: \(text)\n")
    }
  }

  /// The keys with other values that need a restart.
  private static func changes(_ old: ServeFile, _ new: ServeFile) -> [String] {
    var changes = ServeKey.all.filter { key in
      !live.contains(key.name)
        && old.options.first { $0.key == key }?.arguments != new.options.first { $0.key == key }?.arguments
    }.map(\.name)
    if old.overrides != new.overrides { changes.append("overrides or never-store") }
    return changes
  }
}
