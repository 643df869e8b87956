import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// A temporary file that is removed with its last user.
final class TemporaryFile: Sendable {
  let url: URL
  private let isMoved = Mutex(false)

  /// Makes an empty file.
  ///
  /// - Parameter mode: its permissions; nil for those of any file that the user makes.
  /// - Throws: `CocoaError` if it cannot be made.
  convenience init(in folder: URL, mode: Int? = nil) throws {
    self.init(unmadeIn: folder)
    let attributes = mode.map { [FileAttributeKey.posixPermissions: $0] }
    guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: attributes)
    else { throw Self.failure(at: url) }
  }

  /// Its permissions; nil if they cannot be read.
  var mode: Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
    return (attributes?[.posixPermissions] as? NSNumber)?.intValue
  }

  func setMode(_ mode: Int?) throws {
    guard let mode else { return }
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
  }

  /// A path for a file that another object will make.
  init(unmadeIn folder: URL) {
    url = folder.appendingPathComponent(".swift-http-cache-\(UUID().uuidString)")
  }

  deinit {
    if !isMoved.withLock({ $0 }) { try? FileManager.default.removeItem(at: url) }
  }

  /// Moves it to its final path in one step, replacing any file there.
  ///
  /// - Throws: `CocoaError`; the file then stays temporary.
  func move(to destination: URL) throws {
    try Self.move(url.path, to: destination)
    isMoved.withLock { $0 = true }
  }

  /// Moves a file in one step, replacing any file at the destination.
  ///
  /// - Throws: `CocoaError`.
  static func move(_ path: String, to destination: URL) throws {
    guard rename(path, destination.path) == 0 else { throw failure(at: destination) }
  }

  private static func failure(at url: URL) -> CocoaError {
    let code = POSIXErrorCode(rawValue: errno) ?? .EIO
    return CocoaError(
      code == .ENOSPC ? .fileWriteOutOfSpace : .fileWriteUnknown,
      userInfo: [
        NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: POSIXError(code),
        NSLocalizedDescriptionKey: "cannot write \(url.path): \(String(cString: strerror(code.rawValue)))",
      ])
  }
}
