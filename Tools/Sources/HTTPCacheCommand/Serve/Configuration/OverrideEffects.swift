import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPTypes

/// Finds overrides of a configuration file that have no effect: in a shared cache, because the rule that they would lift
/// stays in force without `sharing-despite` (docs/overrides.md), or in every cache, because nothing is stored.
enum OverrideEffects {
  private static let credentials: Set<String> = ["authorization", "proxy-authorization", "cookie", "*"]

  /// Effects on stored responses.
  private static let storedEffects =
    ["fresh", "fresh-at-least", "fresh-at-most", "pin"] + ReuseWindow.allCases.map(\.rawValue)

  /// Refuses an override that never stores, and says how stored responses are used.
  ///
  /// - Parameter values: the values of the file's keys.
  /// - Throws: `ConfigFailure`.
  static func refuseNeverStored(_ values: [String: ConfigValue]) throws(ConfigFailure) {
    let overrides = try overrides(values)
    // Such an override may allow storing again, with the effects of those before.
    for values in overrides where try values["never-store"]?.boolean() == false { return }
    for values in overrides where try values["never-store"]?.boolean() == true {
      guard let value = storedEffects.compactMap({ values[$0] }).first else { continue }
      throw ConfigFailure(
        value.file, line: value.line, "\(value.key.quoted): has no effect beside never-store: true")
    }
  }

  /// - Parameter values: the values of the file's keys, which `OverrideList` has read.
  /// - Returns: a failure for each override without an effect.
  /// - Throws: `ConfigFailure` for values that `OverrideList` refuses.
  static func missing(_ values: [String: ConfigValue]) throws(ConfigFailure) -> [ConfigFailure] {
    let overrides = try overrides(values)
    var lifting: [LiftedRules.Override] = []
    for values in overrides {
      lifting.append((try values["sharing-despite"]?.strings() ?? [], try beginnings(values)))
    }
    let rules = LiftedRules(lifting)
    var failures: [ConfigFailure] = []
    for (values, override) in zip(overrides, lifting) {
      // An override lifts rules only for targets that it matches, too.
      failures += try missing(values, lifted: rules.names(for: override.beginnings))
    }
    return failures
  }

  /// The values of the keys of each override.
  private static func overrides(
    _ values: [String: ConfigValue]
  ) throws(ConfigFailure) -> [[String: ConfigValue]] {
    var overrides: [[String: ConfigValue]] = []
    for value in try values["overrides"]?.list() ?? [] {
      overrides.append(try value.values(of: OverrideList.keys))
    }
    return overrides
  }

  /// - Parameter lifted: the rules that overrides may lift for targets of this override.
  private static func missing(
    _ values: [String: ConfigValue], lifted: Set<String>
  ) throws(ConfigFailure) -> [ConfigFailure] {
    var failures: [ConfigFailure] = []
    if let value = values["ignore"] {
      for name in try value.strings()
      where ["no-store", "private"].contains(name) && !lifted.contains(name) {
        failures.append(failure(value, "ignoring \(name) has no effect", needs: name))
      }
    }
    if let value = values["ignore-vary"], !lifted.contains("Vary"),
      try value.strings().contains(where: { credentials.contains($0.lowercased()) })
    {
      failures.append(failure(value, "ignoring Vary of credentials has no effect", needs: "Vary"))
    }
    if let value = values["cache-control"],
      lifted.isDisjoint(with: ["private", "no-store", "Authorization"]),
      try value.string().split(separator: ",").contains(where: { isPublic($0) })
    {
      failures.append(
        failure(
          value, "public lifts neither private, no-store nor the rule about Authorization", needs: "private"))
    }
    return failures
  }

  /// The beginnings of an override's patterns; one without text for an override of all targets.
  private static func beginnings(_ values: [String: ConfigValue]) throws(ConfigFailure) -> [PatternBeginning]
  {
    let patterns = try values["match"]?.strings() ?? []
    return patterns.isEmpty ? [PatternBeginning("")] : patterns.map { PatternBeginning($0) }
  }

  private static func isPublic(_ directive: Substring) -> Bool {
    directive.filter { $0 != " " && $0 != "\t" }.lowercased() == "public"
  }

  private static func failure(_ value: ConfigValue, _ problem: String, needs name: String) -> ConfigFailure {
    ConfigFailure(
      value.file, line: value.line,
      "\(value.key.quoted): \(problem) in a shared cache without sharing-despite: [\(name)]")
  }
}
