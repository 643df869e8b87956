import HTTPCacheSemantics
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
    /// References between angle brackets, and those of the parameter `anchor` (RFC 8288 §3, §3.2).
    case link
    /// References that are strings of a structured field (RFC 9651 §3.3.3).
    case strings
    /// The pattern of URLs that is the member `match` of a dictionary (RFC 9842 §2.1.1).
    case match
    /// The attributes `Domain` and `Path` (RFC 6265 §5.2.3, §5.2.4).
    case cookie
  }

  private static let forms: [(HTTPField.Name, Form)] = [
    (.location, .whole), (.contentLocation, .whole), (.refresh, .refresh), (.link, .link),
    (.setCookie, .cookie), (.sourceMap, .whole), (.xSourceMap, .whole), (.serviceWorkerAllowed, .whole),
    (.reportingEndpoints, .strings), (.speculationRules, .strings), (.useAsDictionary, .match),
  ]

  let route: GatewayRoute
  /// The origins by the client's `Host`, if the origin got it; empty if it got its own name.
  let requested: [Origin]
  /// The host that the client asked for; nil if the client named none.
  let clientHost: String?

  /// Whether a field is there that may have references.
  static func mayBe(in fields: HTTPFields) -> Bool {
    fields.indices.contains { index in
      let name = fields[index].name
      // Lengths first: each response passes here.
      return lengths.contains(name.canonicalName.utf8.count) && forms.contains { $0.0 == name }
    }
  }

  private static let lengths = forms.map { $0.0.canonicalName.utf8.count }

  func change(_ fields: inout HTTPFields) {
    for (name, form) in Self.forms where fields.firstIndex(of: name) != nil {
      // A malformed response may have several of each.
      let fieldsOfName = fields[fields: name]
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
      case .link: strings(text, inBrackets: true) { Self.isValue(of: "anchor", after: $0) }
      case .strings: strings(text) { _ in true }
      case .match: strings(text) { Self.isValue(of: "match", after: $0) }
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

  private static func finalBlanksDropped(_ text: Substring) -> Substring {
    text.lastIndex { $0 != " " && $0 != "\t" }.map { text[...$0] } ?? ""
  }

  /// Whether the string behind some text is the value of a parameter.
  private static func isValue(of parameter: String, after text: String) -> Bool {
    let before = finalBlanksDropped(text[...])
    guard before.last == "=" else { return false }
    let name = finalBlanksDropped(before.dropLast())
    let start = name.lastIndex { " \t;,".contains($0) }.map { name.index(after: $0) } ?? name.startIndex
    return name[start...].lowercased() == parameter
  }

  /// Changes references in quotation marks, and those between angle brackets if asked.
  ///
  /// - Parameter isReference: whether a string is a reference, by the text before it.
  private func strings(
    _ text: String, inBrackets: Bool = false, where isReference: (String) -> Bool
  ) -> String {
    var (own, rest) = ("", text[...])
    while let next = rest.first {
      guard next == "\"" || (inBrackets && next == "<") else {
        own.append(next)
        rest = rest.dropFirst()
        continue
      }
      let isChanged = next == "<" || isReference(own)
      // Without an end there is no further reference: searched for once, not from each `<` to the end.
      guard let end = next == "<" ? rest.firstIndex(of: ">") : Self.endOfString(rest) else {
        return own + rest
      }
      let value = rest[rest.index(after: rest.startIndex)..<end]
      own += "\(next)\(isChanged ? reference(value) : String(value))\(rest[end])"
      rest = rest[rest.index(after: end)...]
    }
    return own
  }

  /// The second quotation mark of a string, whose quoted pairs may be of others.
  private static func endOfString(_ text: Substring) -> String.Index? {
    var rest = text.dropFirst()
    while let next = rest.first, next != "\"" { rest = rest.dropFirst(next == "\\" ? 2 : 1) }
    return rest.isEmpty ? nil : rest.startIndex
  }

  private func cookie(_ text: String) -> String {
    var parts = text.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
    // Browsers take such a cookie only with this path.
    guard parts.first.map({ !Self.blanksDropped($0[...]).lowercased().hasPrefix("__host-") }) ?? false else {
      return text
    }
    // From the end, so that the indices before a dropped attribute stay.
    for index in parts.indices.dropFirst().reversed() {
      let pair = parts[index].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2 else { continue }
      let value = String(Self.finalBlanksDropped(Self.blanksDropped(pair[1])))
      switch FieldList.members(pair[0]).first.map({ FieldList.lowercased($0) }) {
      case "path": parts[index] = "\(pair[0])=\(route.cookiePath(from: value))"
      case "domain" where isForeign(domain: value): parts.remove(at: index)
      default: break
      }
    }
    return parts.joined(separator: ";")
  }

  /// Whether the client refuses a cookie for this domain because the domain is that of the origin (RFC 6265 §5.3, step 6).
  /// A cookie without the attribute is for the host that the client asked for.
  private func isForeign(domain: String) -> Bool {
    guard let clientHost else { return false }
    return route.isForeign(cookieDomain: domain, clientHost: clientHost)
  }
}

extension HTTPField.Name {
  static let refresh = Self("Refresh") ?? .location
  static let link = Self("Link") ?? .location
  /// The map of a script to its sources, also under its older name (ECMA-426).
  static let sourceMap = Self("SourceMap") ?? .location
  static let xSourceMap = Self("X-SourceMap") ?? .location
  /// The widest scope of a service worker (Service Workers §5.2).
  static let serviceWorkerAllowed = Self("Service-Worker-Allowed") ?? .location
  static let reportingEndpoints = Self("Reporting-Endpoints") ?? .location
  static let speculationRules = Self("Speculation-Rules") ?? .location
  static let useAsDictionary = Self("Use-As-Dictionary") ?? .location
}
