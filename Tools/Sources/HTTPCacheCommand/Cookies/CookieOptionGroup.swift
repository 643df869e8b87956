import ArgumentParser
import HTTPCaching

/// The option of `get` that keeps cookies; `-b` is one of the request.
struct CookieOptionGroup: ParsableArguments {
  @Option(
    name: [.customShort("c", allowingJoined: true), .customLong("cookie-jar")],
    help: ArgumentHelp(
      "Write all cookies to this file after the last transfer, those of -b and those that origins set; - is "
        + "standard output. Cookies go to the hosts and paths that they are for, also along redirects.",
      valueName: "path"))
  var jarPath: String?

  func validate() throws {
    if jarPath?.isEmpty == true {
      throw ValidationError("-c requires the name of a file, or - (got nothing)")
    }
  }

  /// Writes the cookies after the last transfer.
  ///
  /// - Returns: the status of the command, given that of its transfers.
  func save(_ jar: CookieJar?, after status: ExitStatus) -> ExitStatus {
    guard let jarPath, let jar else { return status }
    do throws(OutputFailure) { try CookieFile.write(jar.all, to: jarPath) } catch {
      Console.report("httpcache: \(error)")
      return status == .success ? .output : status
    }
    return status
  }
}
