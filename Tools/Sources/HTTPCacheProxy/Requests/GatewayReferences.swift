import HTTPTypes

/// Changes the references to the origin in the fields of a response into references to the proxy, as the client of a
/// gateway needs them.
struct GatewayReferences {
  /// The place of references in a field.
  private enum Form {
    /// The value is one reference.
    case whole
    /// The time, then perhaps `url=`, then the reference, as browsers read it (HTML, "shared declarative refresh steps").
    case refresh
    /// References between angle brackets (RFC 8288 §3).
    case link
    /// The attribute `Path` (RFC 6265 §5.2.4).
    case cookie
  }

  private static let forms: [(HTTPField.Name, Form)] = [
    (.location, .whole), (.contentLocation, .whole), (.refresh, .refresh), (.link, .link),
    (.setCookie, .cookie),
  ]

  let route: GatewayRoute
  /// The origin by the client's `Host`, if the origin got it; nil if it got its own name.
  let requested: Origin?

  func change(_ fields: inout HTTPFields) {
    for (name, form) in Self.forms {
      // A malformed response may have several of each.
      let fieldsOfName = fields[fields: name]
      guard !fieldsOfName.isEmpty else { continue }
      let own = fieldsOfName.map { change($0, form) }
      if own != fieldsOfName { fields[fields: name] = own }
    }
  }

  /// Changes a field whose value may have any octets: each is a character here.
  private func change(_ field: HTTPField, _ form: Form) -> HTTPField {
    let text = field.withUnsafeBytesOfValue { octets in
      String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
    }
    let own =
      switch form {
      case .whole: reference(text)
      case .refresh: refresh(text)
      case .link: link(text)
      case .cookie: cookie(text)
      }
    guard own != text else { return field }
    return HTTPField(
      name: field.name, lenientValue: own.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
  }

  private func reference(_ text: some StringProtocol) -> String {
    route.reference(from: String(text), requested: requested)
  }

  private func refresh(_ text: String) -> String {
    var rest = text.drop { $0 == " " || $0 == "\t" }
    rest = rest.drop { $0.isNumber || $0 == "." }
    let isSeparated = rest.first.map { " \t;,".contains($0) } ?? false
    guard isSeparated else { return text }
    rest = Self.blanksDropped(rest)
    if rest.first == ";" || rest.first == "," { rest = Self.blanksDropped(rest.dropFirst()) }
    if rest.prefix(3).lowercased() == "url" {
      let value = Self.blanksDropped(rest.dropFirst(3))
      if value.first == "=" { rest = Self.blanksDropped(value.dropFirst()) }
    }
    var end = text.endIndex
    if let quote = rest.first, quote == "'" || quote == "\"" {
      rest = rest.dropFirst()
      end = rest.firstIndex(of: quote) ?? end
    }
    return String(text[..<rest.startIndex]) + reference(text[rest.startIndex..<end]) + text[end...]
  }

  private static func blanksDropped(_ text: Substring) -> Substring { text.drop { $0 == " " || $0 == "\t" } }

  private func link(_ text: String) -> String {
    var (own, rest, isQuoted) = ("", text[...], false)
    while let next = rest.first {
      if !isQuoted, next == "<" {
        // Without an end there is no further reference: searched for once, not from each `<` to the end.
        guard let end = rest.firstIndex(of: ">") else { return own + rest }
        own += "<" + reference(rest[rest.index(after: rest.startIndex)..<end])
        rest = rest[end...]
      } else {
        // A quoted pair, which may be a quotation mark.
        let length = isQuoted && next == "\\" ? 2 : 1
        if next == "\"" { isQuoted.toggle() }
        own += rest.prefix(length)
        rest = rest.dropFirst(length)
      }
    }
    return own
  }

  private func cookie(_ text: String) -> String {
    var parts = text.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
    // Browsers take such a cookie only with this path.
    guard parts.first.map({ !Self.blanksDropped($0[...]).lowercased().hasPrefix("__host-") }) ?? false else {
      return text
    }
    for index in parts.indices.dropFirst() {
      let pair = parts[index].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2, FieldList.members(pair[0]).first.map({ FieldList.lowercased($0) }) == "path"
      else { continue }
      let value = Self.blanksDropped(pair[1])
      let end = value.lastIndex { $0 != " " && $0 != "\t" }.map { value.index(after: $0) } ?? value.startIndex
      parts[index] = "\(pair[0])=\(route.cookiePath(from: String(value[..<end])))"
    }
    return parts.joined(separator: ";")
  }
}

extension HTTPField.Name {
  static let refresh = Self("Refresh") ?? .location
  static let link = Self("Link") ?? .location
}
