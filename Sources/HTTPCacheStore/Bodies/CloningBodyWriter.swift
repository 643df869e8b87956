/// A writer that can take the bytes of a file without writing them, where the file system lets files share blocks.
package protocol CloningBodyWriter: BodyWriter {
  /// Appends all bytes of a file, as a clone of it. Called before other bytes are appended.
  ///
  /// - Parameters:
  ///   - descriptor: the open file.
  ///   - length: its length in bytes.
  ///   - see: is given the bytes, which are read once for their checksums.
  /// - Returns: false if the file cannot be cloned; nothing was appended then.
  /// - Throws: as `append(_:)`; `CacheError.io` if the file has another length.
  func appendClone(
    of descriptor: Int32, length: Int64, see: (BodyBytes) -> Void
  ) async throws(CacheError) -> Bool
}
