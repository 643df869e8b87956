import CSystemShims
import Dispatch
package import HTTPCacheLibC
import Synchronization

/// An open file or directory. Releasing the last reference ends the advisory lock, and closes the descriptor.
///
/// - Parameter Failure: the error of the module that uses the file.
package final class OpenFile<Failure: SystemFailure>: Sendable {
  package let descriptor: Int32
  private let wasLocked = Atomic(false)

  package init(descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    // Closing is not enough: a child that this process is starting has a copy of the descriptor until it calls exec.
    if wasLocked.load(ordering: .relaxed) { unlock() }
    close(descriptor)
  }

  package static var writing: Int32 { O_RDWR }
  package static var making: Int32 { O_RDWR | O_CREAT | O_EXCL }
  package static var folder: Int32 { O_RDONLY | O_DIRECTORY }

  /// Opens `name` within `directory` and never follows a symbolic link there.
  package convenience init(
    _ name: String, in directory: OpenFile, flags: Int32, mode: mode_t = 0o600
  ) throws(Failure) {
    let result = shim_openat(
      directory.descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, UInt32(mode))
    guard result >= 0 else { throw Failure(number: -result, during: "open \(name)") }
    self.init(descriptor: result)
  }

  /// Opens `name` within `directory` likewise, but gives nil if there is no such file.
  package convenience init?(existing name: String, in directory: OpenFile, flags: Int32) throws(Failure) {
    let result = shim_openat(directory.descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, 0)
    if result == -ENOENT { return nil }
    guard result >= 0 else { throw Failure(number: -result, during: "open \(name)") }
    self.init(descriptor: result)
  }

  /// Makes a file without a name in the folder for temporary files. The file vanishes with its last user.
  package static func temporary() throws(Failure) -> OpenFile {
    let path = "\(TemporaryFolder.path)/.swift-http-cache-\(UInt64.random(in: .min ... .max))"
    let result = shim_open(path, making | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard result >= 0 else { throw Failure(number: -result, during: "make \(path)") }
    unlink(path)
    return OpenFile(descriptor: result)
  }

  package func status() throws(Failure) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Failure.last(during: "fstat") }
    return status
  }

  package func size() throws(Failure) -> Int64 { Int64(try status().st_size) }

  /// Fills `buffer` from `offset`. Returns fewer bytes only at the end of the file.
  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) -> Int {
    let count = Descriptor.read(into: buffer, from: descriptor, at: offset)
    guard count >= 0 else { throw Failure(number: Int32(-count), during: "read") }
    return count
  }

  /// Fills the whole of `buffer` if all bytes are in the page cache. Never waits for a disk.
  package func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Bool {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = shim_read_cached(
        descriptor, rest.baseAddress, rest.count, offset + Int64(done))
      guard count > 0 else { return false }
      done += Int(count)
    }
    return true
  }

  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
    let result = shim_write(descriptor, bytes.baseAddress, bytes.count, offset)
    guard result == 0 else { throw Failure(number: -result, during: "write") }
  }

  /// Makes the file a copy of another file whose blocks the system shares; false if it cannot share them.
  package func shareBlocks(of descriptor: Int32) -> Bool {
    shim_clone_descriptor(self.descriptor, descriptor) == 0
  }

  /// Makes a file at `path` of this file, which has exactly `length` bytes. The system shares its blocks or copies them.
  ///
  /// - Returns: false if the system can do neither; no file is left then.
  /// - Throws: if a file exists at `path`.
  package func copy(to path: String, length: Int64) throws(Failure) -> Bool {
    let result = shim_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard result >= 0 else { throw Failure(number: -result, during: "make \(path)") }
    let file = OpenFile(descriptor: result)
    if file.shareBlocks(of: descriptor) { return true }
    var offset: Int64 = 0
    while offset < length {
      let count = shim_copy_range(file.descriptor, descriptor, &offset, Int(min(length - offset, 1 << 30)))
      guard count > 0 else {
        unlink(path)
        return false
      }
    }
    return true
  }

  /// Cuts the file off after so many bytes; a failure leaves it longer.
  package func truncate(to length: Int64) { ftruncate(descriptor, off_t(length)) }

  // MARK: The files of a folder

  /// Deletes a file of this folder, or an empty folder in it.
  ///
  /// - Returns: 0, or the number of the error.
  @discardableResult
  package func remove(_ name: String) -> Int32 {
    if unlinkat(descriptor, name, 0) == 0 { return 0 }
    let number = errno
    if number == ENOENT || unlinkat(descriptor, name, AT_REMOVEDIR) != 0 { return number }
    return 0
  }

  /// Renames a file of this folder, and replaces a file with the new name.
  package func rename(_ name: String, to new: String) throws(Failure) {
    guard renameat(descriptor, name, descriptor, new) == 0 else {
      throw Failure.last(during: "rename \(name)")
    }
  }

  /// The state of a file of this folder; nil if there is none.
  package func status(of name: String) -> stat? {
    var status = stat()
    return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
  }

  /// Passes the names of the files of this folder on, except `.` and `..`; nil for a name that is not UTF-8.
  package func eachName(_ body: (String?) throws(Failure) -> Void) throws(Failure) {
    let operation = "list a folder"
    let copy = shim_openat(descriptor, ".", Self.folder | O_CLOEXEC, 0)
    guard copy >= 0 else { throw Failure(number: -copy, during: operation) }
    guard let stream = fdopendir(copy) else {
      let error = Failure.last(during: operation)
      close(copy)
      throw error
    }
    defer { closedir(stream) }
    while true {
      // At the end and after an error, `readdir` returns nil; only an error sets `errno`.
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw Failure.last(during: operation) }
        return
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
          String(validatingCString: $0)
        }
      }
      if name != ".", name != ".." { try body(name) }
    }
  }

  package func sync() throws(Failure) {
    while fsync(descriptor) != 0 {
      if errno != EINTR { throw Failure.last(during: "fsync") }
    }
  }

  /// Takes the advisory lock exclusively, waiting for it on the calling thread.
  ///
  /// - Returns: false if the lock was not free within `seconds`.
  package func lock(seconds: Int) -> Bool {
    if tryLock() { return true }
    // The system call has no timeout, so another thread waits in it.
    let isDone = DispatchSemaphore(value: 0)
    let isDecided = Atomic(false)
    DispatchQueue(label: "HTTPCacheFiles.lock").async { [self] in
      guard shim_lock(descriptor) == 0 else { return }
      wasLocked.store(true, ordering: .relaxed)
      // The caller has given up.
      if isDecided.exchange(true, ordering: .acquiringAndReleasing) { unlock() }
      isDone.signal()
    }
    if isDone.wait(timeout: .now() + .seconds(seconds)) == .success { return true }
    return isDecided.exchange(true, ordering: .acquiringAndReleasing)
  }

  /// Releases the advisory lock.
  package func unlock() { shim_unlock(descriptor) }

  /// Takes the advisory lock unless another descriptor holds it in a mode that excludes this one.
  package func tryLock(_ mode: LockMode = .exclusive) -> Bool { lockCode(mode) == 0 }

  /// Takes the advisory lock as `tryLock` does.
  ///
  /// - Returns: 0, or the negative number of the error: `-EWOULDBLOCK` if another descriptor holds it.
  package func lockCode(_ mode: LockMode = .exclusive) -> Int32 {
    let code = shim_try_lock(descriptor, mode.rawValue)
    if code == 0 { wasLocked.store(true, ordering: .relaxed) }
    return code
  }
}

/// The folder for temporary files.
package enum TemporaryFolder {
  package static var path: String {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? ""
    return folder.hasPrefix("/") ? folder : "/tmp"
  }
}

/// The mode of the advisory lock of a file.
package enum LockMode: Int32 {
  case shared = 0
  case exclusive = 1
}
