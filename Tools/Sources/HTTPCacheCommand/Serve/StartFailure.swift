import ArgumentParser
import HTTPCacheLibC
import HTTPCacheProxy
import HTTPCaching
import NIOCore

/// The reason why `serve` cannot start, as a message.
struct StartFailure: Error, CustomStringConvertible {
  let description: String
  /// The name of the option that the failure is about; nil if the message tells it.
  private var key: String?
  /// `usage` for options that exclude each other.
  private var status = ExitStatus.failure

  init(_ description: String, key: String? = nil, status: ExitStatus = .failure) {
    self.description = description
    self.key = key
    self.status = status
  }

  /// The failure of a listener that cannot be opened.
  ///
  /// - Parameter key: the name of the option that has the address.
  init(listening address: ListenAddress, key: String = "listen", _ error: any Error) {
    self.key = key
    let reason: String
    switch error {
    case let error as IOError where error.errnoCode == EACCES && address.port < 1024:
      reason = "permission denied (ports below 1024 need root or the capability CAP_NET_BIND_SERVICE)"
    case let error as IOError: reason = SystemMessage.text(error.errnoCode)
    case is SocketAddressError.UnknownHost, SocketAddressError.unknown:
      reason = "the host name does not resolve"
    default: reason = "\(error)"
    }
    description = "cannot listen on \(address): \(reason)"
  }

  /// The failure of a cache directory that cannot be used.
  init(directory: String, _ error: CacheError) {
    let hint = error.code == .newerFormat ? "" : " (--allow-no-cache starts without it)"
    let named = "\(directory): "
    let reason = error.message.hasPrefix(named) ? String(error.message.dropFirst(named.count)) : error.message
    description = "cannot use the cache directory \(named)\(reason)\(hint)"
  }

  /// The failure with the place in a configuration file that it comes from, unless it has that place already.
  func located(in file: ServeFile?) -> StartFailure {
    guard let file, !description.hasPrefix("\(file.path), line "), !description.hasPrefix("\(file.path): "),
      let located = file.located(description, key: key)
    else {
      return self
    }
    return StartFailure(located, status: status)
  }

  /// Adds the place in a configuration file to messages about an option.
  ///
  /// - Parameter key: the name of the option.
  static func locating(_ key: String, in file: ServeFile?) -> (String) -> String {
    { StartFailure($0, key: key).located(in: file).description }
  }

  /// Writes the message to standard error, and returns the error to throw.
  func reported() -> ExitCode {
    Console.report("httpcache: \(description)")
    return status.code
  }
}
