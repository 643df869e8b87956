import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPTypes

/// Finds overrides of a configuration file that have no effect in a shared cache, because the rule that they would lift
/// stays in force without `sharing-despite` (docs/overrides.md).
enum OverrideEffects {
  private static let credentials: Set<String> = ["authorization", "proxy-authorization", "cookie", "*"]

  /// - Parameter values: the values of the file's keys, which `OverrideList` has read.
  /// - Returns: a failure for each override without an effect.
  /// - Throws: `ConfigFailure` for values that `OverrideList` refuses.
  static func missing(_ values: [String: ConfigValue]) throws(ConfigFailure) -> [ConfigFailure] {
    var overrides: [[String: ConfigValue]] = []
    for value in try values["overrides"]?.list() ?? [] {
      overrides.append(try value.values(of: OverrideList.keys))
    }
    // Which overrides match the same targets is not known here: any of them may lift a rule for another one.
    var lifted: Set<String> = []
    for values in overrides { lifted.formUnion(try values["sharing-despite"]?.strings() ?? []) }
    var failures: [ConfigFailure] = []
    for values in overrides {
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
            value, "public lifts neither private, no-store nor the rule about Authorization",
            needs: "private"))
      }
    }
    return failures
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
