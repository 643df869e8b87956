import ArgumentParser
import Foundation
import HTTPCacheProxy
import HTTPCacheSemantics

/// The path and the query of an admin request.
struct AdminQuery {
  /// The path.
  let path: String
  private let values: [String: String]

  /// Splits a request target.
  ///
  /// - Throws: `ValidationError` for a parameter that is given twice: only one of its values would count; for one that
  ///   is not UTF-8 or has a malformed escape: it would match nothing.
  init(_ target: String) throws(ValidationError) {
    path = URLComponents(string: target)?.path ?? ""
    let query = target.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
    var values: [String: String] = [:]
    for item in query.split(separator: "&") {
      let given = item.prefix { $0 != "=" }
      guard let name = Self.decoded(given) else {
        throw ValidationError(
          "the name of the parameter \(String(given).quoted) must be UTF-8, percent-encoded")
      }
      let text = item.dropFirst(given.count + 1)
      guard let value = Self.decoded(text) else {
        throw ValidationError("\(name.quoted) must be UTF-8, percent-encoded (got '\(String(text).quoted)')")
      }
      guard values.updateValue(value, forKey: name) == nil else {
        throw ValidationError("the parameter \(name.quoted) is given twice")
      }
    }
    self.values = values
  }

  /// The text without its percent-encoding; nil for a malformed escape and for octets that are not UTF-8.
  private static func decoded(_ text: Substring) -> String? {
    // SwiftNIO puts U+FFFD in the place of octets that are not UTF-8.
    text.unicodeScalars.contains("\u{FFFD}") ? nil : TargetURI.percentDecoded(text)
  }

  /// The value of a parameter; empty if it has none, nil if it is not given.
  subscript(name: String) -> String? { values[name] }

  /// The value of a parameter that must have one if it is given; nil if it is not given.
  func nonempty(_ name: String) throws(ValidationError) -> String? {
    guard let value = values[name] else { return nil }
    guard !value.isEmpty else { throw ValidationError("\(name) must not be empty") }
    return value
  }

  /// The value of a parameter that must be given.
  func required(_ name: String) throws(ValidationError) -> String {
    guard let value = values[name], !value.isEmpty else {
      throw ValidationError("the parameter \(name) is missing")
    }
    return value
  }

  /// Whether a parameter that may do without a value is set.
  func isSet(_ name: String) throws(ValidationError) -> Bool {
    guard let value = values[name] else { return false }
    switch value.lowercased() {
    case "", "1", "true", "yes": return true
    case "0", "false", "no": return false
    default: throw ValidationError("\(name) must be true or false (got '\(value.quoted)')")
    }
  }

  /// The number in a parameter; nil if it is not given.
  func number(_ name: String) throws(ValidationError) -> Int64? {
    guard let value = values[name] else { return nil }
    guard let number = Int64(value) else {
      throw ValidationError("\(name) must be a number (got '\(value.quoted)')")
    }
    return number
  }
}
