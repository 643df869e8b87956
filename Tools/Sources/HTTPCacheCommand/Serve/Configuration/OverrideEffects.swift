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
    var protections: [(beginnings: [Beginning], names: [String])] = []
    for values in overrides {
      protections.append((try beginnings(values), try values["sharing-despite"]?.strings() ?? []))
    }
    var failures: [ConfigFailure] = []
    for (index, values) in overrides.enumerated() {
      let own = protections[index].beginnings
      var lifted: Set<String> = []
      // An override lifts rules only for targets that it matches, too.
      for (beginnings, names) in protections where mayMeet(own, beginnings) { lifted.formUnion(names) }
      failures += try missing(values, lifted: lifted)
    }
    return failures
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

  /// The literal text with which a pattern begins.
  private struct Beginning {
    /// The part of a target with which the pattern is compared.
    enum Part {
      case path, host, target
    }

    let part: Part
    let text: String

    /// - Parameter pattern: a glob, or a host with `host:` before.
    init(_ pattern: String) {
      part = pattern.hasPrefix("/") ? .path : pattern.hasPrefix("host:") ? .host : .target
      // An escape may stand for a literal character, and most patterns ignore the query.
      let literal = pattern.prefix { $0.isASCII && !"*%?".contains($0) }
      // `/a/**` may match `/a`.
      text = (literal.hasSuffix("/") ? literal.dropLast() : literal).lowercased()
    }

    /// Whether a target may begin with both texts. Parts of different kinds are not compared.
    func mayMeet(_ other: Beginning) -> Bool {
      part != other.part || text.hasPrefix(other.text) || other.text.hasPrefix(text)
    }
  }

  /// The beginnings of an override's patterns; one without text for an override of all targets.
  private static func beginnings(_ values: [String: ConfigValue]) throws(ConfigFailure) -> [Beginning] {
    let patterns = try values["match"]?.strings() ?? []
    return patterns.isEmpty ? [Beginning("")] : patterns.map { Beginning($0) }
  }

  /// Whether two overrides may match the same target. True for some that never do, because only the beginnings of
  /// their patterns are compared: a file that works must not be refused.
  private static func mayMeet(_ one: [Beginning], _ other: [Beginning]) -> Bool {
    one.contains { beginning in other.contains { $0.mayMeet(beginning) } }
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
