import Foundation
import HTTPCacheProxy

/// The path and the query of an admin request.
struct AdminQuery {
  /// A parameter that is missing or cannot be used.
  struct Invalid: Error {
    let message: String

    init(_ message: String) { self.message = message }
  }

  /// The path.
  let path: String
  private let values: [String: String]

  /// Splits a request target.
  ///
  /// - Throws: `Invalid` for a parameter that is given twice: only one of its values would count.
  init(_ target: String) throws(Invalid) {
    let parts = URLComponents(string: target)
    path = parts?.path ?? ""
    var values: [String: String] = [:]
    for item in parts?.queryItems ?? [] {
      guard values.updateValue(item.value ?? "", forKey: item.name) == nil else {
        throw Invalid("the parameter \(item.name.quoted) is given twice")
      }
    }
    self.values = values
  }

  /// The value of a parameter; empty if it has none, nil if it is not given.
  subscript(name: String) -> String? { values[name] }

  /// The value of a parameter that must be given.
  func required(_ name: String) throws(Invalid) -> String {
    guard let value = values[name], !value.isEmpty else { throw Invalid("the parameter \(name) is missing") }
    return value
  }

  /// Whether a parameter that may do without a value is set.
  func isSet(_ name: String) throws(Invalid) -> Bool {
    guard let value = values[name] else { return false }
    switch value.lowercased() {
    case "", "1", "true", "yes": return true
    case "0", "false", "no": return false
    default: throw Invalid("\(name) must be true or false (got '\(value.quoted)')")
    }
  }

  /// The number in a parameter; nil if it is not given.
  func number(_ name: String) throws(Invalid) -> Int64? {
    guard let value = values[name] else { return nil }
    guard let number = Int64(value) else { throw Invalid("\(name) must be a number (got '\(value.quoted)')") }
    return number
  }
}
