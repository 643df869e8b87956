import Foundation
import HTTPCacheProxy
import Yams

/// A configuration file as a tree of YAML.
enum ConfigDocument {
  /// The longest file in bytes.
  private static let longest = 1 << 20
  /// Tells booleans and null from texts. The keys read numbers themselves: Yams tries a regular expression for each of
  /// its rules on each value.
  private static let resolver = Resolver.basic.appending(.bool).appending(.null)

  /// Reads a file.
  ///
  /// - Throws: `ConfigFailure`, with the line if the failure has one.
  static func node(_ path: String) throws(ConfigFailure) -> Node {
    let text = try text(path)
    let (parser, root): (Parser, Node?)
    do {
      parser = try Parser(yaml: text, resolver: resolver)
      root = try parser.singleRoot()
    } catch {
      throw notYAML(error, path)
    }
    guard let root else { throw ConfigFailure(path, "is empty") }
    // Nodes have weak references to the anchors of their parser.
    try withExtendedLifetime(parser) { () throws(ConfigFailure) in try refuseAnchors(root, path) }
    return root
  }

  private static func text(_ path: String) throws(ConfigFailure) -> String {
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      throw ConfigFailure(path, "is a folder")
    }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ConfigFailure(path, "cannot be read: \(SystemMessage.text(errno))")
    }
    guard data.count <= longest else { throw ConfigFailure(path, "is longer than \(longest) bytes") }
    if let text = String(data: data, encoding: .utf8) { return text }
    let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let wrong = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
    throw ConfigFailure(path, line: wrong.map { $0 + 1 }, "is not UTF-8")
  }

  /// The failure for a file that is not YAML: the problem and its line, not the text of the line, which may have a
  /// password.
  private static func notYAML(_ error: any Error, _ path: String) -> ConfigFailure {
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      ConfigFailure(path, line: mark.line, "is not YAML: \(problem)")
    case .duplicatedKeysInMapping(let keys, let context):
      ConfigFailure(
        path, line: context.mark.line,
        "is not YAML: the key '\((keys.first ?? "").quoted)' is there twice, for the first time in this line")
    case .reader(let problem, let offset, _, let text):
      ConfigFailure(path, line: offset.map { line(at: $0, of: text) }, "is not YAML: \(problem)")
    default: ConfigFailure(path, "is not YAML")
    }
  }

  /// The number of the line with a character.
  private static func line(at offset: Int, of text: String) -> Int {
    1 + text.prefix(offset).count { $0.isNewline }
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
}
