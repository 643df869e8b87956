import HTTPCacheProxy
import Yams

/// A value of a configuration file and its place.
struct ConfigValue {
  let file: String
  /// The keys from the top, with dots between; empty at the top.
  let key: String
  /// The line of the key; nil for a value of a list.
  let keyLine: Int?
  private let node: Node

  init(file: String, key: String, keyLine: Int? = nil, node: Node) {
    self.file = file
    self.key = key
    self.keyLine = keyLine
    self.node = node
  }

  var line: Int? { node.mark?.line }

  /// The values of a list; one value alone for anything else.
  var elements: [ConfigValue] {
    guard case .sequence(let sequence) = node else { return [self] }
    return sequence.enumerated().map { ConfigValue(file: file, key: "\(key)[\($0)]", node: $1) }
  }

  /// The failure for a value that is not as expected.
  func failure(_ expected: String) -> ConfigFailure {
    ConfigFailure(file, line: line, "\(key.isEmpty ? "the file" : key.quoted) must be \(expected)\(given)")
  }

  private var given: String {
    switch node {
    case .scalar(let scalar): " (got '\(LogText.hidingCredentials(scalar.string).quoted)')"
    case .mapping: " (got keys with values)"
    case .sequence: " (got a list)"
    case .alias: " (got an alias)"
    }
  }

  /// - Throws: `ConfigFailure` for anything but a text or a number.
  func string() throws(ConfigFailure) -> String {
    guard case .scalar(let scalar) = node else { throw failure("one value") }
    guard node.tag != Tag(.null) else { throw failure("a value") }
    return scalar.string
  }

  /// One value or a list of values.
  ///
  /// - Throws: `ConfigFailure`.
  func strings() throws(ConfigFailure) -> [String] {
    guard case .sequence = node else { return [try string()] }
    var strings: [String] = []
    for value in try list() { strings.append(try value.string()) }
    return strings
  }

  /// - Throws: `ConfigFailure`.
  func boolean() throws(ConfigFailure) -> Bool {
    guard let value = node.bool else { throw failure("true or false") }
    return value
  }

  /// - Throws: `ConfigFailure`.
  func integer(_ range: ClosedRange<Int>) throws(ConfigFailure) -> Int {
    try number(range, "a number from \(range.lowerBound) to \(range.upperBound)")
  }

  /// - Throws: `ConfigFailure`.
  func seconds(_ range: ClosedRange<Int>) throws(ConfigFailure) -> Int {
    try number(
      range, "a whole number of seconds from \(range.lowerBound) to \(range.upperBound), such as 60")
  }

  private func number(_ range: ClosedRange<Int>, _ expected: String) throws(ConfigFailure) -> Int {
    guard let value = Int(try string()), range.contains(value) else { throw failure(expected) }
    return value
  }

  /// - Throws: `ConfigFailure`.
  func list() throws(ConfigFailure) -> [ConfigValue] {
    guard case .sequence = node else { throw failure("a list") }
    return elements
  }

  /// The values of the keys, in order.
  ///
  /// - Throws: `ConfigFailure`.
  func pairs() throws(ConfigFailure) -> [(key: String, value: ConfigValue)] {
    guard case .mapping(let mapping) = node else { throw failure("keys with values") }
    var pairs: [(String, ConfigValue)] = []
    for (given, value) in mapping {
      guard let name = given.string else {
        throw ConfigFailure(
          file, line: given.mark?.line, "a key must be a name, not a list or keys with values")
      }
      let key = key.isEmpty ? name : "\(key).\(name)"
      pairs.append((name, ConfigValue(file: file, key: key, keyLine: given.mark?.line, node: value)))
    }
    return pairs
  }

  /// The values of known keys.
  ///
  /// - Parameter hint: a sentence for a name that is no key here; nil for a name without a hint.
  /// - Throws: `ConfigFailure` for another key.
  func values(
    of known: [String], hint: (String) -> String? = { _ in nil }
  ) throws(ConfigFailure) -> [String: ConfigValue] {
    var values: [String: ConfigValue] = [:]
    for (name, value) in try pairs() {
      guard known.contains(name) else {
        let place = key.isEmpty ? "" : "\(key.quoted): "
        let advice = hint(name) ?? NearestName.of(name, among: known).map { "did you mean '\($0)'?" }
        let keys = (advice.map { "\($0) The" } ?? "the") + " keys are " + known.joined(separator: ", ")
        throw ConfigFailure(
          file, line: value.keyLine ?? value.line, "\(place)unknown key '\(name.quoted)'; \(keys)")
      }
      values[name] = value
    }
    return values
  }
}

/// Why a configuration file cannot be used: file, line, key, and what was expected.
struct ConfigFailure: Error, CustomStringConvertible {
  let description: String

  /// - Parameter message: may quote the file: it is shown within a screen, without control characters.
  init(_ file: String, line: Int? = nil, _ message: String) {
    let text = line.map { "\(file), line \($0): \(message)" } ?? "\(file): \(message)"
    description = text.bounded.printable
  }
}
