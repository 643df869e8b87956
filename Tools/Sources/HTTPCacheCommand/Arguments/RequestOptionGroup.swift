import ArgumentParser
import Foundation
import HTTPCaching

/// The options that make the head of a request, spelled as curl's.
struct RequestOptionGroup: ParsableArguments {
  @Option(
    name: [.customShort("H", allowingJoined: true), .customLong("header"), .customLong("request-header")],
    help: ArgumentHelp(
      "A field 'Name: value'; 'Name;' sends an empty one, 'Name:' removes a default, @FILE has a field per line.",
      valueName: "field"))
  var headers: [String] = []

  @Option(
    name: [.customShort("X", allowingJoined: true), .customLong("request"), .customLong("method")],
    help: "The method.")
  var method: String?

  @Flag(name: [.customShort("I"), .long], help: "Send HEAD; write status and fields.")
  var head = false

  @Option(
    name: [.customShort("r", allowingJoined: true), .long], parsing: .unconditional,
    help: ArgumentHelp("A range of bytes: 0-499, 500- or -500.", valueName: "range"))
  var range: String?

  @Option(
    name: [.customShort("u", allowingJoined: true), .long],
    help: ArgumentHelp(
      "User and password (Basic). Other hosts, to which a redirect leads, do not get them. A private cache "
        + "may answer with what another user of the URL got; a shared one stores only what is public. "
        + "`ps` shows arguments; --netrc-file keeps a password out of them.",
      valueName: "user:password"))
  var user: String?

  @Flag(
    name: [.customShort("n"), .long],
    help: "Take user and password from ~/.netrc, for each host to which a redirect leads, too; not with -u.")
  var netrc = false

  @Option(
    name: .customLong("netrc-file"),
    help: ArgumentHelp("Take user and password from this file.", valueName: "path"))
  var netrcFile: String?

  @Option(
    name: [.customShort("A", allowingJoined: true), .customLong("user-agent")],
    help: "User-Agent; empty sends none.")
  var userAgent = CommandVersion.userAgent

  @Option(name: [.customShort("e", allowingJoined: true), .long], help: "Referer.")
  var referer: String?

  @Option(
    name: [.customShort("b", allowingJoined: true), .customLong("cookie")],
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Cookies: 'name=value; name=value', or a file in Netscape's format (- is standard input). With a file, or "
        + "an empty text, cookies that origins set go along with later requests.", valueName: "cookies"))
  var cookies: [String] = []

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp(
      "Request gzip, deflate, brotli and zstd, and decode the body. The cache stores the body as received. "
        + "Ranges are requested without, and a file that is itself compressed (*.gz, *.br, *.zst) stays unchanged."
    ))
  var compressed = true

  func validate() throws {
    if let method, HTTPRequest.Method(rawValue: method) == nil {
      throw ValidationError("-X: '\(method)' is not a method, such as GET or POST")
    }
    for header in headers where !header.hasPrefix("@") { _ = try HeaderArgument(parsing: header) }
    if let range, !Self.isRange(range) {
      throw ValidationError("--range requires 0-499, 500- or -500 (got '\(range)')")
    }
  }

  /// The cookies that are sent as they are; nil without any.
  var cookieText: String? {
    let texts = cookies.filter { $0.contains("=") }
    return texts.isEmpty ? nil : texts.joined(separator: "; ")
  }

  /// The files of cookies, or empty texts, which ask for an empty jar.
  var cookieFiles: [String] { cookies.filter { !$0.contains("=") } }

  /// The fields of `-H`, those in files included.
  ///
  /// - Throws: `ValidationError`.
  func headerArguments() throws -> [HeaderArgument] {
    let fields = try headers.flatMap(HeaderArgument.list)
    guard fields.count <= HeaderArgument.most else {
      throw ValidationError("-H takes at most \(HeaderArgument.most) fields (got \(fields.count))")
    }
    return fields
  }

  /// Users and passwords for hosts; nil if neither `-n` nor `--netrc-file` is given.
  ///
  /// - Throws: `ValidationError` if the file that `--netrc-file` names cannot be read, or for a quote that is not closed.
  func netrcEntries() throws -> NetrcFile? {
    if let netrcFile {
      return try NetrcFile(
        String(decoding: try InputFile.contents(netrcFile), as: UTF8.self), path: netrcFile)
    }
    guard netrc else { return nil }
    let path = (CommandEnvironment.current["HOME"] ?? NSHomeDirectory()) + "/.netrc"
    // Many homes have no such file: like curl, continue without a password.
    return try (try? InputFile.contents(path)).map {
      try NetrcFile(String(decoding: $0, as: UTF8.self), path: path)
    }
  }

  /// User and password of `-u`.
  ///
  /// - Throws: `ValidationError` if there is no password and no terminal to ask for it.
  func credentials() throws -> Credentials? {
    guard let user else { return nil }
    guard let credentials = Credentials(user) ?? .prompted(user: user) else {
      throw ValidationError(
        "--user requires user:password, since there is no terminal to ask for the password")
    }
    return credentials
  }

  private static func isRange(_ text: String) -> Bool {
    text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { part in
      let ends = part.split(separator: "-", omittingEmptySubsequences: false)
      return ends.count == 2 && ends.contains { !$0.isEmpty }
        && ends.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }
  }
}
