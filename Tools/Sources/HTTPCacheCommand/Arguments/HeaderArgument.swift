import ArgumentParser
import Foundation
import HTTPCacheSemantics
import HTTPCaching

/// A header field as an argument: `Name: value` sends a field, `Name;` sends an empty one, `Name:` removes a
/// default.
struct HeaderArgument: Sendable {
  /// The name.
  let name: HTTPField.Name
  /// The value; nil removes the default.
  let value: String?

  /// The most fields of `-H`, and of the `header=` lines of one URL: both together fit into a head.
  static let most = HTTPFields.countLimit / 4

  /// Reads a field. Messages show its name only, since a value may be a secret.
  ///
  /// - Throws: `ValidationError` for a missing colon, a name that is not a token (RFC 9110 §5.1), or a
  ///   value with control characters (RFC 9110 §5.5).
  init(parsing text: String) throws {
    guard let colon = text.firstIndex(of: ":") else {
      guard text.hasSuffix(";"), let name = HTTPField.Name(String(text.dropLast())) else {
        throw ValidationError("-H requires 'Name: value', 'Name;' or 'Name:'; the argument has no colon")
      }
      self.name = name
      value = ""
      return
    }
    guard let name = HTTPField.Name(String(text[..<colon])) else {
      throw ValidationError("-H requires 'Name: value'; the text before the colon is not a field name")
    }
    self.name = name
    let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
    guard HTTPField.isValidValue(String(value)) else {
      throw ValidationError("the value of -H '\(name.rawName): …' has characters that a field must not have")
    }
    self.value = value.isEmpty ? nil : String(value)
  }

  /// Reads an argument, which is one field, or the file (`@FILE`, `@-`) that holds one on each line.
  ///
  /// - Throws: `ValidationError`.
  static func list(_ argument: String) throws -> [HeaderArgument] {
    guard argument.hasPrefix("@") else { return [try HeaderArgument(parsing: argument)] }
    let text = String(decoding: try InputFile.contents(argument.dropFirst()), as: UTF8.self)
    return try text.split(whereSeparator: \.isNewline).map { try HeaderArgument(parsing: String($0)) }
  }
}

extension HTTPFields {
  /// Applies arguments: a field that they name replaces the default, repeated names send several fields.
  mutating func apply(_ arguments: [HeaderArgument]) {
    for argument in arguments { self[argument.name] = nil }
    for argument in arguments {
      guard let value = argument.value else { continue }
      if !appendBounded(HTTPField(name: argument.name, value: value)) { return }
    }
  }
}
