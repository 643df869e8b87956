public import ArgumentParser

/// An HTTP cache for the terminal.
public struct HTTPCacheCommand: AsyncParsableCommand {
  /// Names and subcommands.
  public static let configuration = CommandConfiguration(
    commandName: "httpcache", subcommands: [ServeCommand.self])

  /// Makes the command.
  public init() {}

  /// Runs the command with the arguments of the process.
  public static func main() async {
    do {
      var command = try parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch {
      exit(withError: error)
    }
  }
}
