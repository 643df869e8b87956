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
  func save(_ plan: RequestPlan, after status: ExitStatus) -> ExitStatus {
    guard let jarPath, let jar = plan.cookieJar else { return status }
    let content = CookieFile.Content(cookies: jar.all, otherLines: plan.cookieFileLines)
    do throws(OutputFailure) { try CookieFile.write(content, to: jarPath) } catch {
      Console.report("httpcache: \(error)")
      return status == .success ? .output : status
    }
    return status
  }
}
