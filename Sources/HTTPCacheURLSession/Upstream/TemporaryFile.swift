/// The path of a temporary file, which is removed with its last user.
final class TemporaryFile: Sendable {
  let url = FileManager.default.temporaryDirectory
    .appendingPathComponent(".swift-http-cache-\(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Makes an empty file that only this user can read.
  ///
  /// - Throws: `CocoaError` if it cannot be made.
  func make() throws {
    guard
      FileManager.default.createFile(
        atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: url.path]) }
  }
}
