import Foundation

/// Writes small files that may have secrets.
enum OwnerFile {
  /// Replaces a file, or makes it, in one step. Until then the new bytes are in a file beside it, which only its owner
  /// can read from the moment that it exists.
  ///
  /// - Parameters:
  ///   - mode: the permissions of the file in the end.
  ///   - isLocked: whether to lock the file before it is written. Closing the file ends the lock.
  ///   - task: what fails if this fails, as a message says it.
  /// - Returns: the file.
  /// - Throws: `OutputFailure`; then no new file is left, and the old one stays.
  @discardableResult
  static func replace(
    _ path: String, by bytes: Data, mode: mode_t = 0o600, isLocked: Bool = false, task: String
  ) throws(OutputFailure) -> FileHandle {
    let (new, file) = try made(beside: path, isLocked: isLocked, task: task)
    let isWritten = (try? file.write(contentsOf: bytes)) != nil
    guard isWritten, mode == 0o600 || fchmod(file.fileDescriptor, mode) == 0, rename(new, path) == 0 else {
      let failure = OutputFailure(task, at: path)
      unlink(new)
      throw failure
    }
    return file
  }

  /// Makes an empty file beside a path.
  private static func made(
    beside path: String, isLocked: Bool, task: String
  ) throws(OutputFailure) -> (path: String, file: FileHandle) {
    while true {
      let new = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 16)).part"
      let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw OutputFailure(task, at: path) }
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      guard isLocked else { return (new, file) }
      guard flock(descriptor, LOCK_EX) == 0 else {
        let failure = OutputFailure(task, at: path)
        unlink(new)
        throw failure
      }
      // Until it was locked, another process may have removed it as one that an ended process left.
      if isFile(file, at: new) { return (new, file) }
    }
  }

  /// Whether a path names an open file.
  static func isFile(_ file: FileHandle, at path: String) -> Bool {
    var (opened, named) = (stat(), stat())
    return fstat(file.fileDescriptor, &opened) == 0 && lstat(path, &named) == 0
      && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
  }
}
