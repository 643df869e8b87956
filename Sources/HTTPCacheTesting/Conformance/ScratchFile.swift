import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCacheStore

/// A file that a check inspects or damages.
package struct ScratchFile: Sendable {
  /// The path.
  package let path: String

  /// Names a file, which may not exist.
  package init(_ path: String) { self.path = path }

  /// Whether it exists.
  package var exists: Bool { access(path, F_OK) == 0 }

  /// Its content; nil if it cannot be read.
  package var bytes: [UInt8]? {
    guard let file = try? CacheFile(path: path), let size = try? file.size() else { return nil }
    return Self.bytes(of: file.descriptor, at: 0, count: Int(size))
  }

  /// Bytes of an open file; nil if there are fewer.
  package static func bytes(of descriptor: Int32, at offset: Int64, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let found = bytes.withUnsafeMutableBytes { Descriptor.read(into: $0, from: descriptor, at: offset) }
    return found == count ? bytes : nil
  }

  /// Makes it, or overwrites its beginning.
  ///
  /// - Returns: whether that succeeded.
  @discardableResult
  package func write(_ bytes: [UInt8]) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == bytes.count
  }

  /// Changes one byte, and dates the file back, so that its times show the change.
  ///
  /// - Returns: whether that succeeded.
  func damage(at offset: Int64) -> Bool {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    guard var byte = Self.bytes(of: descriptor, at: offset, count: 1)?.first else { return false }
    byte ^= 0xFF
    let past = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
    return pwrite(descriptor, &byte, 1, off_t(offset)) == 1
      && futimens(descriptor, [past, past]) == 0
  }
}
