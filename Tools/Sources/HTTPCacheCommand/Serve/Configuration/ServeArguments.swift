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

  /// The message of an error about arguments, with the variable or the place in the file that they come from.
  ///
  /// - Returns: nil if the error names no option of either.
  static func located(
    _ message: String, in arguments: [String],
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> ConfigFailure? {
    guard arguments.first == "serve" else { return nil }
    let file = path(arguments).flatMap { try? ServeFile($0) }
    // The longest first: a name may begin with another.
    let named = ServeKey.all.filter { message.contains("--\($0.name)") && !$0.isGiven(in: arguments) }
      .sorted { $0.name.utf8.count > $1.name.utf8.count }
    for key in named {
      if environment[key.variable] != nil { return ConfigFailure(key.variable, message) }
      if let file, let option = file.options.first(where: { $0.key == key }) {
        return ConfigFailure(file.path, line: option.line(of: message), key.naming(message))
      }
    }
    return nil
  }
}
