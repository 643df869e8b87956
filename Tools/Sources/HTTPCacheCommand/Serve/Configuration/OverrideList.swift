import HTTPCacheSemantics
import HTTPTypes

/// The overrides of a configuration file (docs/overrides.md).
enum OverrideList {
  static let keys =
    [
      "name", "match", "types", "statuses", "fresh", "fresh-at-least", "fresh-at-most", "ignore",
      "ignore-vary", "cache-control", "default-cache-control", "ignore-reload", "drop-query", "keep-query",
      "ignore-query", "sort-query", "pin", "never-store", "sharing-despite",
    ] + ReuseWindow.allCases.map(\.rawValue)

  /// - Parameter values: the values of the file's keys.
  /// - Throws: `ConfigFailure`.
  static func read(_ values: [String: ConfigValue]) throws(ConfigFailure) -> [RuleOverride] {
    var overrides: [RuleOverride] = []
    for value in try values["overrides"]?.list() ?? [] { overrides.append(try override(value)) }
    if let never = values["never-store"] {
      overrides.append(
        RuleOverride(try patterns(never), name: "never-store", effects: [.neverStore]))
    }
    return overrides
  }

  private static func override(_ value: ConfigValue) throws(ConfigFailure) -> RuleOverride {
    let values = try value.values(of: keys)
    var statuses: Set<Int> = []
    for status in try values["statuses"].map(each) ?? [] { statuses.insert(try status.integer(200...599)) }
    let effects = try responseEffects(values) + keyEffects(values)
    guard !effects.isEmpty else { throw value.failure("an override with at least one effect") }
    return RuleOverride(
      try values["match"].map(patterns) ?? [], name: try values["name"]?.string() ?? "",
      mediaTypes: try values["types"]?.strings() ?? [], statuses: statuses, effects: effects)
  }

  private static func responseEffects(_ values: [String: ConfigValue]) throws(ConfigFailure) -> [RuleEffect] {
    var effects: [RuleEffect] = []
    if let value = values["cache-control"] { effects.append(try cacheControl(value, whenAbsent: false)) }
    if let value = values["default-cache-control"] {
      effects.append(try cacheControl(value, whenAbsent: true))
    }
    if let value = values["ignore"] {
      var ignored: Set<RuleEffect.Ignored> = []
      for part in try each(value) {
        guard let one = RuleEffect.Ignored(rawValue: try part.string()) else {
          throw part.failure("one of \(RuleEffect.Ignored.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        ignored.insert(one)
      }
      effects.append(.ignoring(ignored))
    }
    if let value = values["ignore-vary"] {
      var names: Set<HTTPField.Name> = []
      for part in try each(value) {
        guard let name = HTTPField.Name(try part.string()) else { throw part.failure("the name of a field") }
        names.insert(name)
      }
      effects.append(.ignoringVary(names))
    }
    if let value = values["fresh"] { effects.append(.lifetime(.exactly(try seconds(value)))) }
    if let value = values["fresh-at-least"] { effects.append(.lifetime(.atLeast(try seconds(value)))) }
    if let value = values["fresh-at-most"] { effects.append(.lifetime(.atMost(try seconds(value)))) }
    for window in ReuseWindow.allCases {
      if let value = values[window.rawValue] { effects.append(.window(window, try seconds(value))) }
    }
    let shared = try protections(values)
    if !shared.isEmpty { effects.append(.sharingDespite(shared)) }
    if let value = values["pin"] { effects.append(.pins(try value.boolean())) }
    if let value = values["never-store"] { effects.append(.stores(!(try value.boolean()))) }
    return effects
  }

  private static func cacheControl(
    _ value: ConfigValue, whenAbsent: Bool
  ) throws(ConfigFailure) -> RuleEffect {
    let effect = RuleEffect.cacheControl(try value.string(), whenAbsent: whenAbsent)
    if let problem = effect.problem { throw value.failure("directives that a cache can read: \(problem)") }
    return effect
  }

  private static func protections(
    _ values: [String: ConfigValue]
  ) throws(ConfigFailure) -> Set<RuleEffect.Protection> {
    var names: Set<RuleEffect.Protection> = []
    for part in try values["sharing-despite"].map(each) ?? [] {
      guard let one = RuleEffect.Protection(rawValue: try part.string()) else {
        throw part.failure("one of \(RuleEffect.Protection.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      names.insert(one)
    }
    return names
  }

  private static func keyEffects(_ values: [String: ConfigValue]) throws(ConfigFailure) -> [RuleEffect] {
    var effects: [RuleEffect] = []
    if try values["ignore-reload"]?.boolean() == true { effects.append(.ignoringRequestDirectives) }
    if let value = values["drop-query"] { effects.append(.droppingQuery(Set(try value.strings()))) }
    if let value = values["keep-query"] { effects.append(.keepingQuery(Set(try value.strings()))) }
    if try values["ignore-query"]?.boolean() == true { effects.append(.ignoringQuery) }
    if try values["sort-query"]?.boolean() == true { effects.append(.sortingQuery) }
    return effects
  }

  private static func seconds(_ value: ConfigValue) throws(ConfigFailure) -> Duration {
    .seconds(try value.seconds(0...Int(Int32.max)))
  }

  /// The values of a list, or one value.
  private static func each(_ value: ConfigValue) throws(ConfigFailure) -> [ConfigValue] {
    _ = try value.strings()
    return value.elements
  }

  /// Globs, or hosts with `host:` before.
  private static func patterns(_ value: ConfigValue) throws(ConfigFailure) -> [TargetPattern] {
    var patterns: [TargetPattern] = []
    for part in try each(value) {
      let text = try part.string()
      do {
        patterns.append(
          text.hasPrefix("host:") ? try .host(String(text.dropFirst(5))) : try .glob(text))
      } catch {
        throw part.failure("a glob such as /images/** or host:*.example.com: \(error)")
      }
    }
    return patterns
  }
}
