import ArgumentParser
import HTTPCaching

/// The options of what is said on standard error, and after a transfer.
struct MessageOptionGroup: ParsableArguments {
  @Flag(
    name: [.customShort("q"), .customLong("quiet"), .customShort("s"), .customLong("silent")],
    help: "No report and no progress.")
  var quiet = false

  @Flag(name: [.customShort("S"), .customLong("show-error")], help: "With -s, report failures still.")
  var showsErrors = false

  @Flag(
    name: .shortAndLong,
    help: "Write the heads that are sent (>) and received (<) to standard error, secrets as ….")
  var verbose = false

  @Option(
    name: [.customShort("w", allowingJoined: true), .customLong("write-out")],
    help: ArgumentHelp(
      "Write this text after each transfer, or that in @FILE: \\n, \\t, %%, %header{name}, and "
        + WriteOut.Variable.allCases.map { "%{\($0.rawValue)}" }.joined(separator: ", ") + ".",
      valueName: "format"))
  var writeOut: String?

  /// Whether the line of a report is written.
  func shows(failure: Bool) -> Bool { !quiet || (showsErrors && failure) }

  /// Receives the heads of messages; nil where none are shown.
  var tell: (@Sendable (String) -> Void)? {
    guard verbose else { return nil }
    return { Console.current.error($0.printable) }
  }

  /// An upstream that tells of its messages, where that is asked for.
  func upstream(_ base: any Upstream, proxies: ProxySettings) -> any Upstream {
    tell.map { VerboseUpstream(base: base, proxies: proxies, tell: $0) } ?? base
  }
}
