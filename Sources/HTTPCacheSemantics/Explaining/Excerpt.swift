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
  package var texts: [String] {
    RequestDirective.allCases.compactMap(text) + (pragmaNoCache ? ["Pragma: no-cache"] : [])
  }

  /// A directive with its value; nil if it is absent.
  private func text(_ directive: RequestDirective) -> String? {
    switch directive {
    case .noCache: noCache ? "\(directive.name)" : nil
    case .noStore: noStore ? "\(directive.name)" : nil
    case .maxAge: maxAge.map { "\(directive.name)=\($0)" }
    case .minFresh: minFresh.map { "\(directive.name)=\($0)" }
    case .maxStale: maxStale.map { "\(directive.name)" + ($0 == greatestDeltaSeconds ? "" : "=\($0)") }
    case .staleIfError: staleIfError.map { "\(directive.name)=\($0)" }
    case .onlyIfCached: onlyIfCached ? "\(directive.name)" : nil
    case .noTransform: noTransform ? "\(directive.name)" : nil
    }
  }
}

extension ResponseDirectives {
  /// The directives with their values, as the cache obeys them.
  package var texts: [String] { ResponseDirective.allCases.compactMap(text) }

  /// The field that contains the directives.
  var field: String {
    switch source {
    case .cacheControl: "Cache-Control"
    case .targeted(let name): name
    case .override: "an override"
    }
  }

  /// A directive with its value; nil if it is absent.
  private func text(_ directive: ResponseDirective) -> String? {
    switch directive.place {
    case .noCache: text(directive, noCache)
    case .private: text(directive, self.private)
    case .maxAge: maxAge.map { "\(directive.name)=\($0)" }
    case .sMaxAge: sMaxAge.map { "\(directive.name)=\($0)" }
    case .window(let window): windows.text(window)
    case .flag(let flag, _): flags.contains(flag) ? "\(directive.name)" : nil
    }
  }

  private func text(_ directive: ResponseDirective, _ scope: Scope) -> String? {
    switch scope {
    case .absent: nil
    case .whole: "\(directive.name)"
    case .fields(let names): "\(directive.name)=\"\(Excerpt.text(names.joined(separator: ", ")))\""
    }
  }
}

extension ReuseFacts {
  /// The directives that still count for the stored response, with the seconds of the stale windows; the
  /// lifetime is in `freshnessLifetime`.
  public var directiveTexts: [String] {
    ResponseDirective.allCases.compactMap { directive in
      if case .window(let window) = directive.place { return windows.text(window) }
      return directive.flag.flatMap { directives.contains($0) ? "\(directive.name)" : nil }
    }
  }
}

extension ReuseFacts {
  /// The lifetime, and the rule that gives it (§4.2.1).
  var lifetimeText: String {
    let source =
      switch lifetimeSource {
      case .sMaxAge: "s-maxage"
      case .maxAge: "max-age"
      case .targeted: "a targeted field"
      case .override: "an override"
      case .expires: "Expires"
      case .heuristic: "a share of the time since Last-Modified"
      case .none: "nothing: no lifetime said, and no guess possible"
      }
    return "\(freshnessLifetime) s, from \(source)"
  }
}

extension StoredResponse {
  /// The lifetime and the rule that gives it, and whether a soft purge has ended it.
  var lifetimeText: String {
    isExpired ? "ended by a soft purge, else \(facts.lifetimeText)" : facts.lifetimeText
  }

  /// Whether the response is stale, and why (§4.2).
  func stalenessText(age: Int64, lifetime: Int64) -> String {
    if isExpired { return "yes: purged softly" }
    return lifetime > age
      ? "no: lifetime \(lifetime) s > age \(age) s" : "yes: lifetime \(lifetime) s <= age \(age) s"
  }
}

extension ReuseFacts.LifetimeSource {
  var section: String {
    switch self {
    case .none: "RFC 9111 §4.2.1"
    case .sMaxAge: "RFC 9111 §5.2.2.10"
    case .maxAge: "RFC 9111 §5.2.2.1"
    case .expires: "RFC 9111 §5.3"
    case .heuristic: "RFC 9111 §4.2.2"
    case .targeted: "RFC 9213 §2.2"
    case .override: ""
    }
  }
}

extension CacheRules {
  /// The stale windows of responses that these rules ignore.
  var ignoredWindows: [String] {
    ReuseWindow.allCases.filter { !$0.isAfterFailure && !$0.isObeyed(by: self) }.map {
      "\($0.rawValue) (switched off)"
    }
  }
}

extension StoredPart {
  /// The stored octets, for people.
  var text: String {
    let octets = ranges.prefix(8).map { "\($0.lowerBound)-\($0.upperBound.saturatingSubtract(1))" }
    return "octets \(Excerpt.list(octets, orElse: "none"))\(ranges.count > 8 ? " and more" : "")"
      + (length.map { " of \($0)" } ?? "")
  }
}

extension NominatedField {
  /// The name and the value, without secrets.
  var text: String {
    switch value {
    case .absent: "no \(name.rawName)"
    case .text(let text): "\(name.rawName) '\(Excerpt.text(text))'"
    case .digest: "\(name.rawName) with a secret"
    }
  }
}
