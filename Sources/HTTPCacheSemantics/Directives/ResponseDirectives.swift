package import HTTPTypes
import RawStructuredFieldValues

/// The cache directives of a response (RFC 9111 §5.2.2, RFC 5861, RFC 8246), from `Cache-Control`
/// or from the targeted field that replaces it (RFC 9213).
package struct ResponseDirectives: Sendable, Hashable {
  /// The range of a directive with an optional list of field names.
  package enum Scope: Sendable, Hashable {
    /// The directive is absent.
    case absent
    /// The whole response.
    case whole
    /// These fields only, in lower case.
    case fields([String])
  }

  /// Where the directives were found.
  package enum Source: Sendable, Hashable {
    /// In `Cache-Control`, or nowhere.
    case cacheControl
    /// In this targeted field. `Cache-Control` and `Expires` are then ignored (RFC 9213 §2.2).
    case targeted(String)
    /// In an override. `Cache-Control` and `Expires` are then ignored.
    case `override`
  }

  package var source = Source.cacheControl
  /// `max-age` in seconds (§5.2.2.1); 0 if it was malformed or contradicted itself (§4.2.1).
  package var maxAge: Int64?
  /// `s-maxage` in seconds (§5.2.2.10), likewise.
  package var sMaxAge: Int64?
  /// The other directives with seconds.
  package var windows = ReuseWindows()
  /// `no-cache` (§5.2.2.4).
  package var noCache = Scope.absent
  /// `private` (§5.2.2.7).
  package var `private` = Scope.absent
  /// The directives without arguments, including `noCache` and `private`.
  package var flags: ReuseFacts.Directives = []

  /// The changes that overrides make to the lifetime, in order.
  var lifetimes: [RuleEffect.Lifetime] = []
  /// Whether an override ignores `Expires`.
  var ignoresExpires = false

  /// `no-store` (§5.2.2.5).
  package var noStore: Bool { flags.contains(.noStore) }

  package init() {}

  /// Finds the directives that apply to a cache with these rules.
  ///
  /// The first field of `rules.targetedFields` that is present, not empty and a valid dictionary decides
  /// alone (RFC 9213 §2.2); otherwise `Cache-Control` does. Any octets are accepted: a part that cannot be
  /// parsed is ignored, or counts as stale if it would have been a lifetime (§4.2.1). A malformed directive
  /// restricts like a well-formed one and permits nothing: it makes no response storable (§3, §3.5), does not
  /// lift `no-store` (§5.2.2.3), and extends no use.
  ///
  /// - Parameters:
  ///   - fields: the header fields of the response.
  ///   - rules: the rules that name the targeted fields.
  package init(_ fields: HTTPFields, rules: CacheRules) {
    for name in rules.targetedFields {
      if let directives = Self(targetedField: name, in: fields) {
        self = directives
        return
      }
    }
    fields.forEachLine(of: .cacheControl) { octets in
      CacheControl.forEachDirective(in: octets) { name, argument in
        guard let directive = ResponseDirective(named: name) else { return }
        apply(directive, DirectiveArgument(argument, as: directive.argument))
      }
    }
  }

  /// Whether a directive gives a lifetime to a cache of this mode.
  func lifetime(in mode: CacheMode) -> (seconds: Int64, source: ReuseFacts.LifetimeSource)? {
    let other: ReuseFacts.LifetimeSource? =
      switch source {
      case .cacheControl: nil
      case .targeted: .targeted
      case .override: .override
      }
    if mode == .shared, let sMaxAge { return (sMaxAge, other ?? .sMaxAge) }
    if let maxAge { return (maxAge, other ?? .maxAge) }
    return nil
  }

  /// Whether a directive gives a well-formed lifetime to a cache of this mode.
  func givesLifetime(in mode: CacheMode) -> Bool {
    if mode == .shared, sMaxAge != nil, !flags.contains(.malformedSMaxAge) { return true }
    return maxAge != nil && !flags.contains(.malformedMaxAge)
  }

  /// Whether `private` permits a cache of this mode to store the response (§3).
  func permitsPrivateStoring(in mode: CacheMode) -> Bool {
    mode == .private && self.private != .absent && !flags.contains(.malformedPrivate)
  }

  /// Whether `Expires` of the response counts.
  var obeysExpires: Bool { source == .cacheControl && !ignoresExpires }

  /// Whether an override gives a lifetime.
  var hasOverriddenLifetime: Bool {
    lifetimes.contains {
      switch $0 {
      case .exactly, .atLeast: true
      case .atMost: false
      }
    }
  }

  /// Applies one directive: each parser calls it with what it read.
  mutating func apply(_ directive: ResponseDirective, _ argument: DirectiveArgument) {
    switch directive.place {
    case .noCache: restrict(\.noCache, flag: .noCache, to: argument.names)
    case .private:
      let isWellFormed = argument == .none || !argument.names.isEmpty
      note(.malformedPrivate, unless: isWellFormed, isFirst: self.private == .absent)
      restrict(\.private, flag: .private, to: argument.names)
    case .maxAge:
      note(.malformedMaxAge, unless: argument.seconds != nil, isFirst: maxAge == nil)
      maxAge = Self.merged(maxAge, argument.seconds)
    case .sMaxAge:
      note(.malformedSMaxAge, unless: argument.seconds != nil, isFirst: sMaxAge == nil)
      sMaxAge = Self.merged(sMaxAge, argument.seconds)
      flags.insert(.sMaxAge)
    case .window(let window): windows[window] = Self.smaller(windows[window], argument.seconds)
    case .flag(let flag, let form):
      switch form {
      case .always: flags.insert(flag)
      case .wellFormed: if argument != .malformed { flags.insert(flag) }
      case .withoutArgument: if argument == .none { flags.insert(flag) }
      case .noting(let mark):
        note(mark, unless: argument == .none, isFirst: !flags.contains(flag))
        flags.insert(flag)
      }
    }
  }

  /// Notes whether a directive that both restricts and permits is well-formed. Only the well-formed directive
  /// permits; the restriction counts in any form.
  ///
  /// - Parameters:
  ///   - mark: the flag for the malformed form.
  ///   - isFirst: whether this is the first occurrence of the directive.
  private mutating func note(
    _ mark: ReuseFacts.Directives, unless isWellFormed: Bool, isFirst: Bool
  ) {
    if isWellFormed { flags.remove(mark) } else if isFirst { flags.insert(mark) }
  }

  mutating func restrict(
    _ scope: WritableKeyPath<Self, Scope>, flag: ReuseFacts.Directives, to names: [String]
  ) {
    switch (self[keyPath: scope], names.isEmpty) {
    case (.whole, _): break
    case (_, true):
      self[keyPath: scope] = .whole
      flags.insert(flag)
    case (.fields(let earlier), false) where earlier.count + names.count > Self.fieldLimit:
      // More names than are searched for each other; without names, it restricts the whole response (§5.2.2.4).
      self[keyPath: scope] = .whole
      flags.insert(flag)
    case (.fields(let earlier), false):
      self[keyPath: scope] = .fields(earlier + names.filter { !earlier.contains($0) })
    case (.absent, false): self[keyPath: scope] = .fields(names)
    }
  }

  /// A lifetime that is repeated with different values, or is not a number of seconds, is 0 (§4.2.1).
  private static func merged(_ earlier: Int64?, _ seconds: Int64?) -> Int64 {
    guard let seconds, earlier == nil || earlier == seconds else { return 0 }
    return seconds
  }

  /// If a window is repeated, the smallest one counts.
  private static func smaller(_ earlier: Int64?, _ seconds: Int64?) -> Int64? {
    guard let seconds else { return earlier }
    return min(earlier ?? seconds, seconds)
  }
}

extension ResponseDirectives {
  /// The longest targeted field that is parsed, in octets.
  private static let targetedLimit = 16_384
  /// Names of fields in all directives of one kind.
  private static let fieldLimit = 64

  /// Reads one targeted field (RFC 9213 §2.1); nil if it is absent, empty or not a valid dictionary, which
  /// all count as absent.
  ///
  /// Members of the wrong type are ignored. A field with only such members counts as empty.
  init?(targetedField name: String, in fields: HTTPFields) {
    guard let fieldName = HTTPField.Name(name), fields.firstIndex(of: fieldName) != nil else { return nil }
    let value = fields.combinedOctets(fieldName)
    guard !value.isEmpty, value.count <= Self.targetedLimit else { return nil }
    var parser = StructuredFieldValueParser(value)
    guard let members = try? parser.parseDictionaryFieldValue() else { return nil }
    self.init()
    source = .targeted(fieldName.canonicalName)
    var isEmpty = true
    for (key, member) in members where consume(key, member) { isEmpty = false }
    if isEmpty { return nil }
  }

  /// Applies one member; false if its type is not the directive's. Unknown members are ignored, but make the
  /// field non-empty.
  private mutating func consume(_ key: String, _ member: ItemOrInnerList) -> Bool {
    guard let directive = ResponseDirective(named: key) else { return true }
    guard case .item(let item) = member,
      let argument = DirectiveArgument(item.rfc9651BareItem, as: directive.argument)
    else { return false }
    apply(directive, argument)
    return true
  }
}

extension DirectiveArgument {
  /// Reads a member of a targeted field; nil if its type is of another kind.
  fileprivate init?(_ item: RFC9651BareItem, as kind: Kind) {
    switch (kind, item) {
    case (.nothing, .bool(true)), (.fieldNames, .bool(true)): self = .none
    case (.fieldNames, .string(var names)): self = .init(names: names.withUTF8 { Self.names(in: $0) })
    // A negative number is not `delta-seconds` (RFC 9111 §1.2.2).
    case (.seconds, .integer(let value)):
      self = value < 0 ? .malformed : .seconds(min(value, greatestDeltaSeconds))
    case (.nothing, _), (.fieldNames, _), (.seconds, _): return nil
    }
  }
}
