import AsyncHTTPClient
import HTTPCaching
import NIOCore
import NIOHTTP1
import NIOSSL

/// A body does not have the digest that its response states.
struct WrongDigest: Error {
  /// The algorithm of the digest.
  let algorithm: String
}

/// The message for an error that ended a transfer.
struct TransferFailureText {
  let error: any Error
  let progress: TransferProgress

  /// The failure, without the bytes that are kept.
  var failure: TransferReport.Failure {
    switch error {
    case let error as UpstreamError where error.kind == .cancelled: interrupted
    case let error as UpstreamError where isEarlyEnd(error):
      TransferReport.Failure(status: .brokenProtocol, reason: earlyEnd(error), isEarlyEnd: true)
    case let error as UpstreamError:
      TransferReport.Failure(status: ExitStatus(error.kind), reason: error.message + option(error))
    case let error as CacheError:
      TransferReport.Failure(
        status: ExitStatus(error.code), reason: "\(error)", isDamage: error.code == .damaged)
    case let error as OutputFailure: TransferReport.Failure(status: .output, reason: "\(error)")
    case let error as TransferReport.Failure: error
    case let error as WrongDigest:
      TransferReport.Failure(
        status: .brokenProtocol,
        reason: "the body does not match its \(error.algorithm) digest (RFC 9530 §1.2)")
    case is CancellationError: interrupted
    default: TransferReport.Failure(status: .failure, reason: "\(error)")
    }
  }

  /// The option that changes a time limit.
  private func option(_ error: UpstreamError) -> String {
    let isConnecting =
      (error.cause as? HTTPClientError) == .connectTimeout
      || { if case .connectTimeout? = error.cause as? ChannelError { true } else { false } }()
    return isConnecting ? " (--connect-timeout)" : ""
  }

  private var interrupted: TransferReport.Failure {
    TransferReport.Failure(status: .interrupted, reason: "interrupted")
  }

  /// Whether the connection ended within the body.
  private func isEarlyEnd(_ error: UpstreamError) -> Bool {
    guard progress.target != nil, error.kind == .protocol || error.kind == .unreachable else { return false }
    return isClosed(error) || error.cause is IOError
  }

  /// Whether the origin closed the connection in order.
  private func isClosed(_ error: UpstreamError) -> Bool {
    switch error.cause {
    case let cause as HTTPParserError: cause == .invalidEOFState
    case let cause as HTTPClientError: cause == .remoteConnectionClosed
    case let cause as NIOSSLError: cause == .uncleanShutdown
    case nil: progress.length.map { progress.start + progress.received < $0 } ?? false
    default: false
    }
  }

  private func earlyEnd(_ error: UpstreamError) -> String {
    let count = HumanText.grouped(progress.start + progress.received)
    let text =
      if let length = progress.length {
        "the response ended after \(count) of \(HumanText.grouped(length)) bytes"
      } else {
        "the response ended after \(count) bytes, before its end"
      }
    return isClosed(error) ? text : "\(text) (\(error.message))"
  }
}
