import ArgumentParser
import HTTPCaching

/// The exit statuses of the command.
enum ExitStatus: Int32, CaseIterable {
  case success = 0
  case failure = 1
  case httpError = 2
  case unreachable = 3
  case timeout = 4
  case tls = 5
  case brokenProtocol = 6
  case notStored = 7
  case output = 8
  case newerFormat = 9
  case cacheUnavailable = 10
  case usage = 64
  case interrupted = 130

  /// The code that ArgumentParser ends the process with.
  var code: ExitCode { ExitCode(rawValue) }

  /// The status for a failure of the origin.
  init(_ kind: UpstreamError.Kind) {
    switch kind {
    case .unreachable: self = .unreachable
    case .timeout: self = .timeout
    case .tls: self = .tls
    case .cancelled: self = .interrupted
    case .protocol: self = .brokenProtocol
    @unknown default: self = .brokenProtocol
    }
  }

  /// The status for a failure of a fleet's server.
  init(_ kind: SharedTierError.Kind) {
    switch kind {
    case .unreachable: self = .unreachable
    case .timeout: self = .timeout
    case .unavailable, .refused: self = .failure
    case .protocol: self = .brokenProtocol
    }
  }

  /// The status for an error of the cache.
  init(_ code: CacheError.Code) {
    switch code {
    case .newerFormat: self = .newerFormat
    case .invalidRequest, .invalidKey, .invalidValue: self = .usage
    case .cancelled: self = .interrupted
    default: self = .cacheUnavailable
    }
  }

  /// The meaning, for `--help`.
  var meaning: String {
    switch self {
    case .success: "done"
    case .failure: "nothing found, damage found, another process runs the queue, or another failure"
    case .httpError: "the answer's status is 400 or more (get --fail), or the answer has no file (get -o)"
    case .unreachable: "the origin cannot be reached"
    case .timeout: "no answer in time"
    case .tls: "the TLS handshake or the certificate failed"
    case .brokenProtocol: "the answer broke the protocol, was cut short, or is not what its digest says"
    case .notStored: "the cache has no answer (--policy cache-only), or does not store a download without -o"
    case .output: "the output could not be written"
    case .newerFormat: "the directory was written by a newer version"
    case .cacheUnavailable: "there is no cache in the directory, or it or a seed cannot be used"
    case .usage: "invalid arguments"
    case .interrupted: "interrupted"
    }
  }

  /// All statuses as lines for `--help`.
  static var help: String { lines(allCases.map { ($0, $0.meaning) }) }

  /// The statuses of one command as lines for `--help`.
  ///
  /// - Parameter meanings: the meaning of each status for the command; nil is the general meaning.
  static func help(_ meanings: [ExitStatus: String?]) -> String {
    lines(allCases.compactMap { status in meanings[status].map { (status, $0 ?? status.meaning) } })
  }

  private static func lines(_ meanings: [(ExitStatus, String)]) -> String {
    meanings.map { status, meaning in
      let code = String(status.rawValue)
      return "  " + String(repeating: " ", count: 3 - code.count) + "\(code)  \(meaning)"
    }.joined(separator: "\n")
  }

  /// Runs `body`, which reads arguments, and reports invalid ones.
  ///
  /// For arguments that are read after parsing. If ArgumentParser validated them, it would report the value of an
  /// unknown option as an invalid URL.
  static func reportingUsage<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as ValidationError {
      Console.report("httpcache: \(error.message)")
      throw usage.code
    }
  }

  /// Reports an error of the cache and returns the error to throw.
  static func reporting(_ error: CacheError) -> ExitCode {
    Console.report("httpcache: \(error)")
    return ExitStatus(error.code).code
  }

  /// Reports a failure of a fleet's server and returns the error to throw.
  static func reporting(_ error: SharedTierError, of fleet: FleetTier) -> ExitCode {
    Console.report("httpcache: the fleet at \(fleet.address): \(error)")
    return ExitStatus(error.kind).code
  }
}
