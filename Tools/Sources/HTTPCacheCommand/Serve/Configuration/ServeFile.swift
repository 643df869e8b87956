import Foundation
import HTTPCacheProxy
import HTTPCacheSemantics

/// The file of `serve --config`: YAML, or JSON, which is YAML too. A key is the long name of an option, or one of
/// `sections`.
struct ServeFile {
  /// The keys that are no options.
  static let sections = [
    "upstreams", "routes", "overrides", "never-store", "request-fields", "response-fields",
  ]

  let path: String
  private(set) var options: [ServeOption] = []
  private(set) var routes = ServeRoutes()
  private(set) var overrides: [RuleOverride] = []
  private let overridesWithoutEffect: [ConfigFailure]
  /// The lines of the keys at the top.
  private var lines: [String: Int] = [:]

  /// Reads a file.
  ///
  /// - Throws: `ConfigFailure`.
  init(_ path: String) throws(ConfigFailure) {
    self.path = path
    let top = ConfigValue(file: path, key: "", node: try ConfigDocument.node(path))
    let known = ServeKey.all.map(\.name).sorted() + Self.sections
    let values = try top.values(of: known, hint: ServeKey.hint)
    for (name, value) in try top.pairs() {
      lines[name] = value.keyLine
      guard let key = ServeKey.all.first(where: { $0.name == name }) else { continue }
      options.append(try ServeOption(key, value))
    }
    routes = try ServeRoutes(values)
    overrides = try OverrideList.read(values)
    try OverrideEffects.refuseNeverStored(values)
    overridesWithoutEffect = try OverrideEffects.missing(values)
  }

  /// - Parameter isShared: whether the cache is for many users.
  /// - Throws: `ConfigFailure` for an override without an effect.
  func checkOverrides(isShared: Bool) throws(ConfigFailure) {
    if isShared, let failure = overridesWithoutEffect.first { throw failure }
  }

  /// - Parameter secret: what other users must not read.
  /// - Throws: `StartFailure` if they can read the file.
  func refuseOtherReaders(of secret: String) throws(StartFailure) {
    var status = stat()
    guard stat(path, &status) == 0, SecretFile.isOpenToOthers(path, status) else { return }
    throw StartFailure("\(path): other users can read \(secret); run `chmod 600` on it")
  }

  /// The failure of a key at the top.
  func failure(of key: String, _ message: String) -> ConfigFailure {
    ConfigFailure(path, line: lines[key], message)
  }

  /// A message with the place of the option that it is about; nil if the option is not in the file, or another place
  /// gives the value that counts. Without a key, and if the message begins with no option, it is the option whose value
  /// the message names, the longest of several.
  func located(_ message: String, key name: String?) -> String? {
    if let name {
      let option = options.first { $0.key.name == name }
      return option.flatMap { located(message, $0, line: $0.line(of: message)) }
    }
    if let option = options.first(where: { $0.key.begins(message) }) {
      return located(message, option, line: option.line(of: message))
    }
    var (found, longest): (String?, Int) = (nil, 1)
    for option in options {
      guard let value = option.value(in: message), value.text.utf8.count > longest else { continue }
      longest = value.text.utf8.count
      found = located(message, option, line: value.line)
    }
    return found
  }

  private func located(_ message: String, _ option: ServeOption, line: Int?) -> String? {
    guard !option.key.isGiven(in: CommandLine.arguments),
      ProcessInfo.processInfo.environment[option.key.variable] == nil
    else { return nil }
    return (line.map { "\(path), line \($0): " } ?? "\(path): ") + option.key.naming(message)
  }
}
