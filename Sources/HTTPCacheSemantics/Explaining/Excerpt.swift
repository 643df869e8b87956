import HTTPTypes

/// Values of a message as an explanation shows them: bounded, and safe to print on a terminal.
enum Excerpt {
  /// The maximum number of characters of one value.
  static let limit = 160

  /// A value without control characters.
  static func text(_ value: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in value.unicodeScalars {
      if shown.count == limit { return String(shown) + "…" }
      let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
      shown.append(isControl ? "?" : scalar)
    }
    return String(shown)
  }

  /// The lines of these fields, in this order, as `Name: value; Name: value`; nil if there are none.
  static func fields(_ names: [HTTPField.Name], of fields: HTTPFields) -> String? {
    var shown: [String] = []
    for name in names {
      for field in fields where field.name == name && shown.count < 16 {
        shown.append("\(name.rawName): \(text(field.value))")
      }
    }
    return shown.isEmpty ? nil : shown.joined(separator: "; ")
  }

  /// The lines of these date fields, like `fields(_:of:)`; marks values that are not dates.
  static func dates(
    _ names: [HTTPField.Name], of fields: HTTPFields, relativeTo now: Timestamp
  ) -> [String] {
    names.compactMap { name in
      guard let line = self.fields([name], of: fields) else { return nil }
      if case .invalid = fields.date(name, relativeTo: now) { return line + " (not a date)" }
      return line
    }
  }

  /// A list for people; `nothing` if it is empty.
  static func list(_ parts: [String], orElse nothing: String) -> String {
    parts.isEmpty ? nothing : parts.joined(separator: ", ")
  }
}

extension RequestDirectives {
  /// The directives with their values, as the cache obeys them.
  var texts: [String] {
    var texts: [String] = []
    if noCache { texts.append("no-cache") }
    if pragmaNoCache { texts.append("Pragma: no-cache") }
    if noStore { texts.append("no-store") }
    if let maxAge { texts.append("max-age=\(maxAge)") }
    if let minFresh { texts.append("min-fresh=\(minFresh)") }
    if let maxStale {
      texts.append(maxStale == greatestDeltaSeconds ? "max-stale" : "max-stale=\(maxStale)")
    }
    if let staleIfError { texts.append("stale-if-error=\(staleIfError)") }
    if onlyIfCached { texts.append("only-if-cached") }
    if noTransform { texts.append("no-transform") }
    return texts
  }
}

extension ResponseDirectives {
  /// The directives with their values, as the cache obeys them.
  var texts: [String] {
    var texts: [String] = []
    if noStore { texts.append("no-store") }
    texts += text("no-cache", noCache) + text("private", self.private)
    if let maxAge { texts.append("max-age=\(maxAge)") }
    if let sMaxAge { texts.append("s-maxage=\(sMaxAge)") }
    if let staleWhileRevalidate { texts.append("stale-while-revalidate=\(staleWhileRevalidate)") }
    if let staleIfError { texts.append("stale-if-error=\(staleIfError)") }
    texts += flags.subtracting([.noCache, .private, .sMaxAge]).texts
    if noTransform { texts.append("no-transform") }
    return texts
  }

  /// The field that contains the directives.
  var field: String {
    switch source {
    case .cacheControl: "Cache-Control"
    case .targeted(let name): name
    case .override: "an override"
    }
  }

  private func text(_ name: String, _ scope: Scope) -> [String] {
    switch scope {
    case .absent: []
    case .whole: [name]
    case .fields(let names): ["\(name)=\"\(Excerpt.text(names.joined(separator: ", ")))\""]
    }
  }
}

extension ReuseFacts.Directives {
  /// The names of the directives.
  var texts: [String] {
    let names: [(Self, String)] = [
      (.noCache, "no-cache"), (.mustRevalidate, "must-revalidate"),
      (.proxyRevalidate, "proxy-revalidate"), (.sMaxAge, "s-maxage"), (.immutable, "immutable"),
      (.public, "public"), (.private, "private"), (.mustUnderstand, "must-understand"),
    ]
    return names.filter { contains($0.0) }.map(\.1)
  }
}
