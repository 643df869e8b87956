public import ArgumentParser
import Foundation
import HTTPCacheProxy

/// The command `httpcache`.
public struct HTTPCacheCommand: AsyncParsableCommand {
  /// Name, version and subcommands.
  public static let configuration = CommandConfiguration(
    commandName: "httpcache",
    abstract: "An HTTP cache (RFC 9111) at the terminal.",
    discussion: """
      Fetches through a cache on disk, shows what is in it and why, and serves it to other programs.
      The private cache of the user is in $XDG_CACHE_HOME/httpcache/private (or ~/.cache/httpcache/private), the \
      shared one in the folder shared beside it; --dir names another directory.
      """,
    version: CommandVersion.described,
    subcommands: [
      GetCommand.self, DownloadsCommand.self, ImageCommand.self, ServeCommand.self, TopCommand.self,
      LogCommand.self, FleetCommand.self, ListCommand.self, ShowCommand.self, PathCommand.self,
      ExplainCommand.self,
      PurgeCommand.self, ConfigCommand.self, StatsCommand.self, VerifyCommand.self, PackCommand.self,
      UnpackCommand.self, DemoCommand.self, DriveCommand.self,
    ])

  /// Makes the command.
  public init() {}

  /// Reads arguments, with short options written together as curl allows.
  ///
  /// - Throws: `ExitCode` after a message about a configuration file; what ArgumentParser throws.
  static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
    do {
      return try parsedWithFile(arguments)
    } catch let failure as ConfigFailure {
      Console.report("httpcache: \(failure)")
      throw ExitStatus.usage.code
    }
  }

  /// Reads arguments, and the configuration file that they name.
  ///
  /// - Throws: `ConfigFailure`; what ArgumentParser throws.
  static func parsedWithFile(_ arguments: [String]) throws -> any ParsableCommand {
    let arguments = ShortOptions.split(arguments)
    guard !FleetAddress.isPasswordShown(in: arguments) else {
      throw ValidationError(
        """
        --fleet: other users can see the password of the URL on a command line; write it into a file, and use \
        --fleet-password-file FILE.
        """)
    }
    let (command, options) = try command(of: arguments)
    try RepeatedOption.refuse(in: options, of: command)
    let expanded = try ServeArguments.expanded(arguments)
    do {
      return try parseAsRoot(expanded)
    } catch {
      let text = completeMessage(for: error)
      throw ServeArguments.located(text, in: arguments) ?? mistake(in: expanded, behind: text) ?? error
    }
  }

  /// The command that arguments name, and the arguments after its name.
  ///
  /// - Throws: `ValidationError` for a name that is no command. ArgumentParser would call it an unexpected argument, or name
  ///   an option after it.
  static func command(
    of arguments: [String]
  ) throws -> (type: any ParsableCommand.Type, options: ArraySlice<String>) {
    var type: any ParsableCommand.Type = HTTPCacheCommand.self
    var options = arguments[...]
    while let argument = options.first {
      let commands = type.configuration.subcommands
      guard !commands.isEmpty, !argument.hasPrefix("-"), argument != "help" else { break }
      guard let next = commands.first(where: { $0.configuration.commandName == argument }) else {
        let names = commands.compactMap { $0.configuration.commandName }
        let isURL = argument.contains("://") && names.contains("get")
        let nearest = isURL ? "get" : NearestName.of(argument, among: names)
        let question = nearest.map { " Did you mean '\($0)'?" } ?? ""
        throw ValidationError("Unknown command '\(LogText.hidingCredentials(argument))'.\(question)")
      }
      type = next
      options = options.dropFirst()
    }
    return (type.configuration.defaultSubcommand ?? type, options)
  }

  /// The mistake because of which `serve` has no origin: a misspelt option, or a URL without its option. The parser
  /// tells of these after it has checked the options that it knows.
  ///
  /// - Parameter message: what the parser told.
  /// - Returns: nil if there is no such mistake.
  private static func mistake(in arguments: [String], behind message: String) -> (any Error)? {
    guard message == RouteOptions.noOrigin else { return nil }
    do {
      _ = try parseAsRoot(
        ["serve", "--forward"] + arguments.dropFirst().map { LogText.hidingCredentials($0) })
    } catch {
      let other = self.message(for: error)
      if other.hasPrefix("Unknown option") { return error }
      if other.lowercased().contains("unexpected argument") { return ValidationError("\(other); \(message)") }
    }
    return nil
  }

  /// Opens standard streams that are closed. For the start of the process, before the first task: Swift's runtime opens
  /// descriptors of its own for tasks.
  public static func openMissingStreams() { Console.openMissingStreams() }

  /// Runs the command with the arguments of the process, and ends the process if it fails.
  ///
  /// A function of this module, so that the executable depends on this module only.
  public static func main() async {
    do {
      var command = try parsed(try arguments())
      try DescriptorLimit.check()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch {
      guard exitCode(for: error) == .success else { end(with: error) }
      let help = fullMessage(for: error)
      if !help.isEmpty { Console.current.output(help + "\n") }
    }
    if let failure = Console.outputFailure { exit(withError: failure) }
  }

  /// The message of an error, with what is expected where ArgumentParser names the value and the option only. Options
  /// with such a message are whole numbers: all others have a transform, or a list of their values.
  private static func completeMessage(for error: any Error) -> String {
    let message = message(for: error)
    let isBare = message.hasPrefix("The value '") && message.hasSuffix(">'")
    return isBare ? "\(message): expected a whole number" : message
  }

  /// Ends the process with an error.
  private static func end(with error: any Error) -> Never {
    let text = errorText(error)
    if !text.isEmpty { Console.current.error(text + "\n") }
    exit(withError: exitCode(for: error))
  }

  /// The message of an error with the usage, without control characters. The message is within a screen: it may quote a
  /// file.
  static func errorText(_ error: any Error) -> String {
    let (whole, message) = (fullMessage(for: error), message(for: error))
    // Help is the message of an error, too.
    guard exitCode(for: error) != .success, !message.isEmpty, let range = whole.range(of: message) else {
      return whole.printable
    }
    return whole.replacingCharacters(in: range, with: completeMessage(for: error).bounded).printable
  }

  /// The arguments of the process. Swift would replace octets that are not UTF-8, and so name other files and URLs.
  ///
  /// - Throws: `ExitCode` after a message.
  private static func arguments() throws -> [String] {
    try (1..<max(1, Int(CommandLine.argc))).map { number in
      guard let octets = CommandLine.unsafeArgv[number], let argument = String(validatingCString: octets)
      else {
        Console.report("httpcache: argument \(number) is not UTF-8")
        throw ExitStatus.usage.code
      }
      return argument
    }
  }
}
