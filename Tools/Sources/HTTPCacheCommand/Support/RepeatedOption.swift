import ArgumentParser
import Foundation

/// Finds options that take one value and are given more than once: ArgumentParser takes the last value without a word.
enum RepeatedOption {
  /// The options of `get` of which the last value counts, as in curl. `-o` and `-T` are none of them: curl takes each of
  /// them for a URL of its own.
  private static let curlNames: Set = [
    "--cacert", "--connect-timeout", "--cookie-jar", "--limit-rate", "--max-redirs", "--max-time",
    "--netrc-file", "--noproxy", "--proxy", "--proxy-user", "--range", "--referer", "--request", "--retry",
    "--retry-delay", "--retry-max-time", "--user", "--user-agent", "--write-out",
  ]

  /// An option, as it is named on a command line.
  private struct ValueOption {
    let names: [String]
    let mayRepeat: Bool
  }

  /// Refuses arguments that give an option more than once, under one of its names or under several.
  ///
  /// - Parameters:
  ///   - arguments: those of a command; of `get` with each short option on its own (`ShortOptions`).
  ///   - command: the command.
  /// - Throws: `ValidationError`.
  static func refuse(
    in arguments: ArraySlice<String>, of command: any ParsableCommand.Type
  ) throws(ValidationError) {
    // The help of the command is asked for its options: not for a command line that cannot have one twice.
    guard arguments.filter({ $0.hasPrefix("-") }).count > 1, !arguments.contains("--help"),
      !arguments.contains("-h")
    else { return }
    let options = options(of: command)
    var places: [String: Int] = [:]
    for (place, option) in options.enumerated() { for name in option.names { places[name] = place } }
    var given: [Int: Substring] = [:]
    var arguments = arguments
    while let argument = arguments.popFirst(), argument != "--" {
      let name = argument.prefix { $0 != "=" }
      guard let place = places[String(name)] else { continue }
      // The value may look like an option.
      if name == argument { _ = arguments.popFirst() }
      guard !options[place].mayRepeat, let first = given.updateValue(name, forKey: place) else { continue }
      throw ValidationError(
        first == name
          ? "\(name) is given more than once; it takes one value."
          : "\(first) and \(name) are one option, which takes one value.")
    }
  }

  /// The options of a command that take a value.
  private static func options(of command: any ParsableCommand.Type) -> [ValueOption] {
    let help = try? JSONDecoder().decode(Help.self, from: Data(command._dumpHelp().utf8))
    let isGet = command == GetCommand.self
    return (help?.command.arguments ?? []).filter { $0.kind == "option" }.map { argument in
      let names = (argument.names ?? []).map { ($0.kind == "long" ? "--" : "-") + $0.name }
      return ValueOption(
        names: names,
        mayRepeat: argument.isRepeating || isGet && names.contains { curlNames.contains($0) })
    }
  }

  /// The part of a command's help, as ArgumentParser writes it, that tells of its options.
  private struct Help: Decodable {
    struct Command: Decodable { var arguments: [Argument]? }

    struct Argument: Decodable {
      var kind: String
      var isRepeating: Bool
      var names: [Name]?
    }

    struct Name: Decodable {
      var kind: String
      var name: String
    }

    var command: Command
  }
}
