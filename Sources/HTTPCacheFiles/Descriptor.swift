import HTTPCacheLibC

/// Calls on descriptors that repeat until all bytes are read or written, and what their errors mean.
package enum Descriptor {
  /// Whether the number of an error tells of a link, a folder or a special file in the place of a file.
  package static func isOfOtherKind(_ code: Int32) -> Bool {
    [ELOOP, ENOTDIR, EISDIR, ENXIO, ESPIPE].contains(code)
  }

  /// Writes all bytes where the last write ended.
  ///
  /// - Returns: 0, or the number of the error.
  package static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let count = write(descriptor, part.baseAddress, part.count)
      if count < 0 {
        if errno == EINTR { continue }
        return errno
      }
      rest = rest.dropFirst(count)
    }
    return 0
  }

  /// Fills a buffer from an offset.
  ///
  /// - Returns: the number of bytes, fewer only at the end of the file; or the negative number of the error.
  package static func read(
    into buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64
  ) -> Int {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return -Int(errno) }
      if count == 0 { break }
      done += count
    }
    return done
  }
}
