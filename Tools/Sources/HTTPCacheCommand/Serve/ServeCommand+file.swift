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
}
