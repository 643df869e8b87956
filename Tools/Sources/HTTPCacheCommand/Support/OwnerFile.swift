import Foundation

/// Writes small files that may have secrets.
enum OwnerFile {
  /// Replaces a file, or makes it, in one step. Until then the new bytes are in a file beside it, which only its owner
  /// can read from the moment that it exists.
  ///
  /// - Parameters:
  ///   - mode: the permissions of the file in the end.
  ///   - task: what fails if this fails, as a message says it.
  /// - Throws: `OutputFailure`; then no new file is left, and the old one stays.
  static func replace(
    _ path: String, by bytes: Data, mode: mode_t = 0o600, task: String
  ) throws(OutputFailure) {
    let new = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 16)).part"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw OutputFailure(task, at: path) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    let isWritten = (try? file.write(contentsOf: bytes)) != nil
    guard isWritten, mode == 0o600 || fchmod(descriptor, mode) == 0, rename(new, path) == 0 else {
      let failure = OutputFailure(task, at: path)
      unlink(new)
      throw failure
    }
  }
}
