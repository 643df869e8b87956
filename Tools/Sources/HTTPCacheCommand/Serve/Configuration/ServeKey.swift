import HTTPCacheProxy

/// An option of `serve` in its configuration file and in the environment.
struct ServeKey: Equatable {
  /// The value of a key.
  enum Kind {
    case value
    /// One value or several.
    case list
    case flag
    /// A flag that is on unless it is switched off.
    case switchedOff
  }

  /// The long name of the option, without hyphens before it.
  let name: String
  let kind: Kind
  /// Other names of the option, with hyphens.
  var aliases: [String] = []

  init(_ name: String, _ kind: Kind, aliases: [String] = []) {
    self.name = name
    self.kind = kind
    self.aliases = aliases
  }

  static let all: [ServeKey] = [
    ServeKey("upstream", .value), ServeKey("forward", .flag), ServeKey("listen", .value),
    ServeKey("allow-remote", .flag), ServeKey("connections-per-client", .value),
    ServeKey("connections-per-origin", .value),
    ServeKey("preserve-host", .flag), ServeKey("trust-forwarded", .list), ServeKey("allow", .list),
    ServeKey("connect-port", .list), ServeKey("http-port", .list), ServeKey("allow-address", .list),
    ServeKey("tls-certificate", .list), ServeKey("tls-key", .list), ServeKey("upstream-ca", .value),
    ServeKey("client-ca", .value), ServeKey("tls-min-version", .value), ServeKey("http2", .switchedOff),
    ServeKey("h2c", .flag),
    ServeKey("upstream-http2", .switchedOff),
    ServeKey("admin", .value), ServeKey("admin-token-file", .value), ServeKey("access-log", .value),
    ServeKey("access-log-file", .value), ServeKey("private", .flag, aliases: ["--shared"]),
    ServeKey("purge-token-file", .value), ServeKey("purge-from", .list), ServeKey("tags-as-groups", .flag),
    ServeKey("fleet", .value), ServeKey("fleet-name", .value), ServeKey("fleet-password-file", .value),
    ServeKey("fleet-secret-file", .value), ServeKey("fleet-ca", .value), ServeKey("fleet-staleness", .value),
    ServeKey("fleet-largest", .value),
    ServeKey("refuse-set-cookie", .flag), ServeKey("keep-set-cookie", .flag),
    ServeKey("refuse-client-errors", .flag), ServeKey("heuristics", .switchedOff),
    ServeKey("dir", .value), ServeKey("capacity", .value, aliases: ["--disk"]),
    ServeKey("memory", .value), ServeKey("event-loops", .value), ServeKey("largest-entry", .value),
    ServeKey("min-free", .value),
    ServeKey("allow-no-cache", .flag), ServeKey("timeout", .value), ServeKey("grace", .value),
    ServeKey("origin-silence", .value), ServeKey("client-silence", .value),
    ServeKey("tunnel-silence", .value),
    ServeKey("client-gone-after", .value),
    ServeKey("seed", .list), ServeKey("encryption-key-file", .value),
    ServeKey("verbose", .flag, aliases: ["-v"]),
  ]

  /// The options for one run, which are no keys.
  static let onlyOnCommandLine: Set = [
    "config", "check", "record", "replay", "strip-field", "strip-parameter",
  ]

  /// A sentence that tells what to write instead of an option of the command line that is no key; nil for another name.
  static func hint(for name: String) -> String? {
    if onlyOnCommandLine.contains(name) { return "--\(name) is only for the command line." }
    if let key = all.first(where: { $0.kind == .switchedOff && "no-\($0.name)" == name }) {
      return "write '\(key.name)', which is its opposite."
    }
    guard let key = all.first(where: { $0.aliases.contains("--\(name)") }) else { return nil }
    return "write '\(key.name)'\(key.kind == .flag ? ", which is its opposite" : "")."
  }

  /// The variable of the environment.
  var variable: String {
    "HTTPCACHE_SERVE_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
  }

  /// The arguments for a value in a file.
  ///
  /// - Throws: `ConfigFailure`.
  func arguments(_ value: ConfigValue) throws(ConfigFailure) -> [String] {
    switch kind {
    case .value: ["--\(name)=\(try value.string())"]
    case .list: try value.strings().map { "--\(name)=\($0)" }
    case .flag: try value.boolean() ? ["--\(name)"] : []
    case .switchedOff: [try value.boolean() ? "--\(name)" : "--no-\(name)"]
    }
  }

  /// The arguments for a variable; several values have commas between.
  ///
  /// - Throws: `ConfigFailure`.
  func arguments(variable text: String) throws(ConfigFailure) -> [String] {
    switch kind {
    case .value: return ["--\(name)=\(text)"]
    case .list: return text.split(separator: ",").map { "--\(name)=\($0)" }
    case .flag, .switchedOff:
      switch text {
      case "true", "1": return ["--\(name)"]
      case "false", "0": return kind == .flag ? [] : ["--no-\(name)"]
      default: throw ConfigFailure(variable, "must be true or false (got '\(text.quoted)')")
      }
    }
  }

  /// Whether a message begins with the option, as on a command line.
  func begins(_ message: String) -> Bool {
    guard message.hasPrefix("--\(name)") else { return false }
    let next = message.dropFirst(name.count + 2).first
    return next.map { !$0.isLetter && !$0.isNumber && $0 != "-" } ?? true
  }

  /// A message about the option that begins with the key, and does not name the option again.
  func naming(_ message: String) -> String {
    begins(message) ? String(message.dropFirst(2)) : "\(name): \(message)"
  }

  /// Whether arguments of a command line have the option.
  func isGiven(in arguments: [String]) -> Bool {
    let names = ["--\(name)", "--no-\(name)"] + aliases
    return arguments.contains { argument in
      names.contains { argument == $0 || argument.hasPrefix("\($0)=") }
    }
  }
}
