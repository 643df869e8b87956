import ArgumentParser
import HTTPCacheProxy

/// The options of `serve` for its access log.
struct AccessLogOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      How requests are logged: plain, json, common, combined, none, or a format as Apache's, such as \
      '%h %v %t "%r" %s %b %D %{User-Agent}i %{outcome}x', where %v is the host that was asked for. \
      (default: plain)
      """, valueName: "format"), transform: Self.format)
  var accessLog = AccessLog.Format.plain

  @Option(
    help: ArgumentHelp(
      "Log requests to this file instead of standard output; SIGUSR1 and SIGHUP open it again.",
      valueName: "path"))
  var accessLogFile: String?

  /// The file of the log; nil for none.
  var path: String? { accessLog == .none ? nil : accessLogFile }

  /// Opens the log.
  ///
  /// - Throws: `StartFailure` if the file cannot be opened.
  func open() throws(StartFailure) -> AccessLog {
    guard let path else { return AccessLog(accessLog) }
    do throws(AccessLog.OpenFailure) {
      return try AccessLog(accessLog, path: path)
    } catch {
      throw StartFailure("--access-log-file: \(error.description)")
    }
  }

  /// Checks that `open` can open or make the file, without making it.
  ///
  /// - Throws: `StartFailure`.
  func check() throws(StartFailure) {
    guard let path else { return }
    do throws(AccessLog.OpenFailure) {
      try AccessLog.check(path: path)
    } catch {
      throw StartFailure("--access-log-file: \(error.description)")
    }
  }

  /// Reads a name, or a format that has a `%`.
  ///
  /// - Throws: `ValidationError`.
  private static func format(_ argument: String) throws -> AccessLog.Format {
    switch argument {
    case "plain": return .plain
    case "json": return .json
    case "none": return .none
    case "common": return .template(.common)
    case "combined": return .template(.combined)
    default:
      guard argument.contains("%") else {
        throw ValidationError("must be plain, json, common, combined, none, or a format with %")
      }
      do throws(LogTemplate.Invalid) {
        return .template(try LogTemplate(argument))
      } catch {
        throw ValidationError(error.description)
      }
    }
  }
}
