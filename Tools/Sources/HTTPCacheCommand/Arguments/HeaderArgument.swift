import ArgumentParser
import HTTPCaching

/// A header field as an argument: `Name: value`.
struct HeaderArgument: Sendable {
  /// The field.
  let field: HTTPField

  /// Reads a field.
  ///
  /// - Throws: `ValidationError` for a missing colon, a name that is no token (RFC 9110 §5.1), or a
  ///   value with control characters (RFC 9110 §5.5).
  init(parsing text: String) throws {
    guard let colon = text.firstIndex(of: ":") else {
      throw ValidationError("'\(text)' is not a header field; write 'Name: value'")
    }
    let nameText = String(text[..<colon])
    guard let name = HTTPField.Name(nameText) else {
      throw ValidationError("'\(nameText)' is not the name of a header field")
    }
    let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
    guard HTTPField.isValidValue(String(value)) else {
      throw ValidationError("the value of '\(nameText)' has characters that a header field must not have")
    }
    field = HTTPField(name: name, value: String(value))
  }
}

extension HTTPFields {
  /// The fields of arguments, in their order.
  init(_ arguments: [HeaderArgument]) {
    self.init()
    for argument in arguments { append(argument.field) }
  }
}
