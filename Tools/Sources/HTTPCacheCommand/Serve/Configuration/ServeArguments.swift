import Foundation

/// The arguments of `serve` with those of its configuration file and of the environment.
enum ServeArguments {
  /// Adds the options of the file that `--config` names, and of variables (`ServeKey.variable`), to arguments. An
  /// option of the command line counts instead of a variable's, and that instead of the file's.
  ///
  /// - Throws: `ConfigFailure`.
  static func expanded(
    _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(ConfigFailure) -> [String] {
    guard arguments.first == "serve", !arguments.contains("--help"), !arguments.contains("-h") else {
      return arguments
    }
    let given = Array(arguments.dropFirst())
    let file = try path(given).map { path throws(ConfigFailure) in try ServeFile(path) }
    var added: [String] = []
    for key in ServeKey.all where !key.isGiven(in: given) {
      if let text = environment[key.variable] {
        added += try key.arguments(variable: text)
      } else if let option = file?.options.first(where: { $0.key == key }) {
        added += option.arguments
      }
    }
    return ["serve"] + added + given
  }

  /// The path of `--config`.
  static func path(_ arguments: [String]) -> String? {
    for (index, argument) in arguments.enumerated() {
      if argument.hasPrefix("--config=") { return String(argument.dropFirst(9)) }
      if argument == "--config", index + 1 < arguments.count { return arguments[index + 1] }
    }
    return nil
  }

  /// The message of an error about arguments, with the place in the file that they come from.
  ///
  /// - Returns: nil if the error names no option of the file.
  static func located(_ message: String, in arguments: [String]) -> ConfigFailure? {
    guard arguments.first == "serve", let path = path(arguments), let file = try? ServeFile(path) else {
      return nil
    }
    let known = file.options.filter { !$0.key.isGiven(in: arguments) }
      .sorted { $0.key.name.utf8.count > $1.key.name.utf8.count }
    guard let option = known.first(where: { message.contains("--\($0.key.name)") }) else { return nil }
    return ConfigFailure(path, line: option.line, "\(option.key.name): \(message)")
  }
}
