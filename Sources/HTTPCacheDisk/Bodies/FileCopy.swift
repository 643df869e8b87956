import CSystemShims
import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Makes new files outside the store.
enum FileCopy {
  /// Makes a file at `path` and fills it. Deletes the file if filling it fails.
  ///
  /// - Throws: `CacheError.io` if a file exists at `path`.
  static func make(
    _ path: String, fill: (OpenFile) throws(CacheError) -> Void
  ) throws(CacheError) {
    let descriptor = shim_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError.make(-descriptor, "make \(path)") }
    let file = OpenFile(descriptor: descriptor)
    do throws(CacheError) {
      try fill(file)
    } catch {
      unlink(path)
      throw error
    }
  }

  /// Clones or copies the first `length` bytes of a file. The file must have exactly `length` bytes.
  static func copy(_ source: OpenFile, to destination: OpenFile, length: Int64) throws(CacheError) {
    if shim_clone_descriptor(destination.descriptor, source.descriptor) == 0 { return }
    var offset: Int64 = 0
    while offset < length {
      let count = shim_copy_range(
        destination.descriptor, source.descriptor, &offset, Int(min(length - offset, 1 << 30)))
      if count <= 0 { break }
    }
    while offset < length {
      let part = min(length - offset, 1 << 20)
      let bytes = try BodyBytes(unsafeUninitializedCapacity: Int(part)) {
        (buffer) throws(CacheError) in try source.read(into: buffer, at: offset)
      }
      guard !bytes.isEmpty else { throw CacheError(.damaged, "the body's file is too short") }
      try bytes.withUnsafeBytes { (buffer) throws(CacheError) in
        try destination.write(buffer, at: offset)
      }
      offset += Int64(bytes.count)
    }
  }
}
