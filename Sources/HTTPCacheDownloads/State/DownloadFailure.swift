public import Foundation

/// Why a download failed, or waits for its next attempt.
public struct DownloadFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of a failure.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// 404 or 410: there is nothing at this URL.
    case gone
    /// 401, 403, 407 or 451: the origin refuses this client.
    case forbidden
    /// Another status without the file, such as 400, 204 or 206.
    case status
    /// 408, 425, 429 or 5xx: the origin may answer later.
    case serverError
    /// No connection: name not found, refused, no route.
    case unreachable
    /// No head for the time of `DownloadQueue.Configuration.headLimit`, or no byte for that of `stallLimit`.
    case timeout
    /// The TLS handshake or the certificate failed.
    case tls
    /// The connection ended before the response, or the response broke the protocol.
    case interrupted
    /// More redirects than allowed.
    case redirects
    /// The representation changed more often than `DownloadQueue.Configuration.restartLimit` allows.
    case changed
    /// The bytes do not have the expected digest. They are removed from the cache.
    case wrongDigest
    /// Too little free space.
    case fullDisk
    /// There is no destination, and the cache does not store the response.
    case notStored
    /// A file is at the destination that this queue did not write.
    case destinationExists
    /// The destination is a folder.
    case destinationIsFolder
    /// The destination is a symbolic link or another special file. Links are neither followed nor replaced.
    case destinationIsLink
    /// The folder of the destination does not exist.
    case noFolder
    /// The destination or its folder must not be written.
    case readOnly
    /// Writing the file failed.
    case io
  }

  /// The kind.
  public let kind: Kind
  /// A description for people.
  public let message: String
  /// The number of the error (`errno`) if a call of the system failed. The list does not keep it.
  public internal(set) var systemError: Int32?

  /// Whether the origin sends another length than is known of the file under its strong validator. Each attempt fails
  /// until the validator changes, or the download, its part and the stored response are removed. The list does not keep it.
  public internal(set) var isContradiction = false

  /// Makes a failure.
  public init(_ kind: Kind, _ message: String) {
    self.kind = kind
    // It is kept in the list, and may be from the origin.
    self.message = message.utf8.count <= 1_000 ? message : String(message.prefix(250))
  }

  /// Kind and message.
  public var description: String { "\(kind.rawValue): \(message)" }

  /// Whether the origin is the reason, so that another URL of the file may have it.
  var isOfOrigin: Bool {
    switch kind {
    case .gone, .forbidden, .status, .serverError, .unreachable, .timeout, .tls, .interrupted, .redirects,
      .changed,
      .wrongDigest:
      true
    case .fullDisk, .notStored, .destinationExists, .destinationIsFolder, .destinationIsLink, .noFolder,
      .readOnly,
      .io:
      false
    }
  }

  /// Whether another attempt may succeed without the caller's help.
  public var isTemporary: Bool {
    switch kind {
    case .serverError, .unreachable, .timeout, .interrupted: true
    default: false
    }
  }
}

/// Texts for people: Foundation's default text of an error is its domain and a number.
extension DownloadFailure: LocalizedError {
  /// Kind and message.
  public var errorDescription: String? { description }
}
