import ArgumentParser
import HTTPCacheProxy
import HTTPCaching

/// The options for messages on standard error, and for the text after a transfer.
struct MessageOptionGroup: ParsableArguments {
  @Flag(
    name: [.customShort("q"), .customLong("quiet"), .customShort("s"), .customLong("silent")],
    help: "Print neither report nor progress.")
  var quiet = false

  @Flag(name: [.customShort("S"), .customLong("show-error")], help: "With -s, still report failures.")
  var showsErrors = false

  @Flag(
    name: .shortAndLong,
    help: "Write the heads that are sent (>) and received (<) to standard error, without secrets.")
  var verbose = false

  @Option(
    name: [.customShort("w", allowingJoined: true), .customLong("write-out")],
    help: ArgumentHelp(
      "Write this text, or the text in @FILE, after each transfer: \\n, \\t, %%, %header{name}, and "
        + WriteOut.Variable.allCases.map { "%{\($0.rawValue)}" }.joined(separator: ", ") + ".",
      valueName: "format"))
  var writeOut: String?

  /// Whether to write a line of report for each transfer.
  func shows(failure: Bool) -> Bool { !quiet || (showsErrors && failure) }

  /// Receives the heads of messages; nil if heads are not shown.
  var tell: (@Sendable (String) -> Void)? {
    guard verbose else { return nil }
    return { Console.current.error($0.printable) }
  }

  /// An upstream that shows its messages if `--verbose` is given, else `upstream` itself.
  func upstream(_ base: any Upstream, proxies: ProxySettings) -> any Upstream {
    tell.map { VerboseUpstream(base: base, proxies: proxies, tell: $0) } ?? base
  }
}
