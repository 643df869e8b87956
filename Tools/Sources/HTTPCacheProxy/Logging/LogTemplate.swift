import HTTPTypes

/// The format of a line of the access log, written as Apache's `LogFormat`.
public struct LogTemplate: Sendable, Hashable {
  /// A format that cannot be read.
  public struct Invalid: Error, CustomStringConvertible {
    /// The part that cannot be read, and what is possible.
    public let description: String
  }

  enum Part: Sendable, Hashable {
    case text(String)
    case client, time, requestLine, method, host, target, status, bytes, bytesOrDash, microseconds, seconds
    case outcome, reason
    /// The value of a request's field, by its place in `fieldNames`.
    case field(Int)
  }

  /// The Common Log Format.
  public static let common = LogTemplate(parts: commonParts, fieldNames: [])

  /// The Common Log Format, then `Referer` and `User-Agent`.
  public static let combined = LogTemplate(
    parts: commonParts + [.text(" \""), .field(0), .text("\" \""), .field(1), .text("\"")],
    fieldNames: [.referer, .userAgent])

  private static let commonParts: [Part] = [
    .client, .text(" - - ["), .time, .text("] \""), .requestLine, .text("\" "), .status, .text(" "),
    .bytesOrDash,
  ]

  private static let letters: [Character: Part] = [
    "h": .client, "l": .text("-"), "u": .text("-"), "r": .requestLine, "m": .method, "v": .host, "U": .target,
    "s": .status,
    "B": .bytes, "b": .bytesOrDash, "D": .microseconds, "T": .seconds, "t": .time, "%": .text("%"),
  ]

  let parts: [Part]
  /// The request fields that the lines have.
  let fieldNames: [HTTPField.Name]

  private init(parts: [Part], fieldNames: [HTTPField.Name]) {
    self.parts = parts
    self.fieldNames = fieldNames
  }

  /// Reads a format.
  ///
  /// - Parameter text: text with `%h` (client), `%t` (time, in brackets), `%r` (request line), `%m` (method), `%v` (the host
  ///   that was asked for), `%U` (target), `%s` (status), `%b` and `%B` (bytes of the body), `%D` (microseconds), `%T` (seconds), `%{Name}i` (a
  ///   field of the request), `%{outcome}x`, `%{reason}x` (why it was not stored, or was refused), `%%`.
  /// - Throws: `Invalid`.
  public init(_ text: String) throws(Invalid) {
    var parts: [Part] = []
    var names: [HTTPField.Name] = []
    var rest = text[...]
    while let sign = rest.firstIndex(of: "%") {
      parts.append(.text(String(rest[..<sign])))
      rest = rest[rest.index(after: sign)...]
      // As Apache's, which tells the last request of several.
      if rest.first == ">" { rest = rest.dropFirst() }
      if rest.first == "{" {
        parts.append(try Self.named(&rest, &names))
      } else {
        guard let letter = rest.popFirst(), let part = Self.letters[letter] else {
          throw Invalid(
            description: "'%\(text[text.index(after: sign)...].prefix(1))' is none of its directives")
        }
        parts += part == .time ? [.text("["), .time, .text("]")] : [part]
      }
    }
    parts.append(.text(String(rest)))
    self.init(parts: parts.filter { $0 != .text("") }, fieldNames: names)
  }

  /// Reads `{Name}i` or `{name}x`.
  private static func named(
    _ rest: inout Substring, _ names: inout [HTTPField.Name]
  ) throws(Invalid) -> Part {
    guard let end = rest.firstIndex(of: "}") else { throw Invalid(description: "'%\(rest)' has no '}'") }
    let name = String(rest[rest.index(after: rest.startIndex)..<end])
    rest = rest[rest.index(after: end)...]
    switch (rest.popFirst(), name) {
    case ("i", _):
      guard let field = HTTPField.Name(name) else { throw Invalid(description: "'\(name)' is no field name") }
      if let index = names.firstIndex(of: field) { return .field(index) }
      names.append(field)
      return .field(names.count - 1)
    case ("x", "outcome"): return .outcome
    case ("x", "reason"): return .reason
    default:
      throw Invalid(description: "'%{\(name)}' must end with i for a field, or be %{outcome}x or %{reason}x")
    }
  }
}

extension LogTemplate {
  /// The line about a request, with its line feed.
  func line(_ entry: AccessLog.Entry, at time: Duration) -> String {
    var line = ""
    for part in parts {
      switch part {
      case .text(let text): line += text
      case .client: line += entry.client
      case .time: line += LogTime(time).common
      case .requestLine: line += Self.escaped("\(entry.method) \(entry.target) \(entry.version)")
      case .method: line += Self.escaped(entry.method)
      case .host: line += entry.host.isEmpty ? "-" : Self.escaped(entry.host)
      case .target: line += Self.escaped(entry.target)
      case .status: line += "\(entry.status)"
      case .bytes: line += "\(entry.bytes)"
      case .bytesOrDash: line += entry.bytes == 0 ? "-" : "\(entry.bytes)"
      case .microseconds: line += "\(entry.microseconds)"
      case .seconds: line += "\(entry.microseconds / 1_000_000)"
      case .outcome: line += entry.outcome
      case .reason: line += (entry.refusal ?? entry.reason).map { Self.escaped($0) } ?? "-"
      case .field(let index):
        line +=
          entry.fields.indices.contains(index) ? entry.fields[index].map { Self.escaped($0) } ?? "-" : "-"
      }
    }
    return line + "\n"
  }

  /// Text that cannot end its quotes or its line, whatever a client sends.
  private static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C || $0 >= 0x7F }) else {
      return text
    }
    var escaped = ""
    for octet in text.utf8 {
      switch octet {
      case 0x22: escaped += "\\\""
      case 0x5C: escaped += "\\\\"
      case 0x20..<0x7F: escaped.unicodeScalars.append(Unicode.Scalar(octet))
      default: escaped += "\\x" + (octet < 16 ? "0" : "") + String(octet, radix: 16)
      }
    }
    return escaped
  }
}
