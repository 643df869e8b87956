import Foundation
import HTTPCacheProxy
import HTTPCacheSemantics
import Yams

/// The file of `serve --config`: YAML, or JSON, which is YAML too. A key is the long name of an option, or one of
/// `sections`.
struct ServeFile {
  /// The keys that are no options.
  static let sections = [
    "upstreams", "routes", "overrides", "never-store", "request-fields", "response-fields",
  ]
  /// The longest file in bytes.
  private static let longest = 1 << 20

  let path: String
  /// The options, as on a command line.
  private(set) var options: [(key: ServeKey, arguments: [String], line: Int?)] = []
  private(set) var routes = ServeRoutes()
  private(set) var overrides: [RuleOverride] = []
  private let overridesWithoutEffect: [ConfigFailure]

  /// Reads a file.
  ///
  /// - Throws: `ConfigFailure`.
  init(_ path: String) throws(ConfigFailure) {
    self.path = path
    let top = ConfigValue(file: path, key: "", node: try Self.node(path))
    let known = ServeKey.all.map(\.name).sorted() + Self.sections
    let values = try top.values(of: known)
    for (name, value) in try top.pairs() {
      guard let key = ServeKey.all.first(where: { $0.name == name }) else { continue }
      options.append((key, try key.arguments(value), value.line))
    }
    routes = try ServeRoutes(values)
    overrides = try OverrideList.read(values)
    overridesWithoutEffect = try OverrideEffects.missing(values)
  }

  /// - Parameter isShared: whether the cache is for many users.
  /// - Throws: `ConfigFailure` for an override without an effect.
  func checkOverrides(isShared: Bool) throws(ConfigFailure) {
    if isShared, let failure = overridesWithoutEffect.first { throw failure }
  }

  private static func node(_ path: String) throws(ConfigFailure) -> Node {
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      throw ConfigFailure(path, "is a folder")
    }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ConfigFailure(path, "cannot be read: \(SystemMessage.text(errno))")
    }
    guard data.count <= longest else { throw ConfigFailure(path, "is longer than \(longest) bytes") }
    guard let text = String(data: data, encoding: .utf8) else { throw ConfigFailure(path, "is not UTF-8") }
    let (parser, root): (Parser, Node?)
    do {
      parser = try Parser(yaml: text)
      root = try parser.singleRoot()
    } catch {
      throw notYAML(error, path)
    }
    guard let root else { throw ConfigFailure(path, "is empty") }
    // Nodes have weak references to the anchors of their parser.
    try withExtendedLifetime(parser) { () throws(ConfigFailure) in try refuseAnchors(root, path) }
    return root
  }

  /// The failure for a file that is not YAML: the problem and its line, not the text of the line, which may have a
  /// password.
  private static func notYAML(_ error: any Error, _ path: String) -> ConfigFailure {
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      ConfigFailure(path, line: mark.line, "is not YAML: \(problem)")
    case .duplicatedKeysInMapping(let keys, _):
      ConfigFailure(path, "is not YAML: a key is there twice: \(keys.sorted().joined(separator: ", "))")
    case .reader(let problem, _, _, _): ConfigFailure(path, "is not YAML: \(problem)")
    default: ConfigFailure(path, "is not YAML")
    }
  }

  /// Aliases could make a small file a large tree.
  private static func refuseAnchors(_ node: Node, _ path: String) throws(ConfigFailure) {
    guard node.anchor == nil else {
      throw ConfigFailure(path, line: node.mark?.line, "anchors (&name) and aliases (*name) cannot be used")
    }
    switch node {
    case .mapping(let mapping):
      for (key, value) in mapping {
        try refuseAnchors(key, path)
        try refuseAnchors(value, path)
      }
    case .sequence(let sequence): for value in sequence { try refuseAnchors(value, path) }
    case .scalar, .alias: break
    }
  }

  /// - Parameter secret: what other users must not read.
  /// - Throws: `StartFailure` if they can read the file.
  func refuseOtherReaders(of secret: String) throws(StartFailure) {
    var status = stat()
    guard stat(path, &status) == 0, SecretFile.isOpenToOthers(path, status) else { return }
    throw StartFailure("\(path): other users can read \(secret); run `chmod 600` on it")
  }

  /// The place of the option whose value a message names, the longest of several; nil without one.
  func place(of message: String) -> String? {
    var (place, longest): (String?, Int) = (nil, 1)
    for option in options {
      for argument in option.arguments {
        let value = argument.drop { $0 != "=" }.dropFirst()
        guard value.utf8.count > longest, message.contains(value) else { continue }
        longest = value.utf8.count
        place = (option.line.map { "\(path), line \($0): " } ?? "\(path): ") + option.key.name
      }
    }
    return place
  }
}
