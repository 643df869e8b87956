import CZlib
import HTTPCacheStore

/// One member of a gzip file while it is decoded (RFC 1952, with zlib).
struct Inflation: ~Copyable {
  private static let pieceLength = 128 << 10
  /// A gzip header instead of one of zlib, with the largest window.
  private static let windowBits: Int32 = 16 + MAX_WBITS

  private let stream: UnsafeMutablePointer<z_stream>
  private(set) var isEnded = false

  /// - Throws: `CacheError.io` if memory runs out.
  init() throws(CacheError) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    guard
      inflateInit2_(stream, Self.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else {
      stream.deallocate()
      throw CacheError(.io, "no memory to decompress")
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Decodes a piece.
  ///
  /// - Parameter input: compressed bytes.
  /// - Returns: the decoded bytes, and the number of bytes of the input that they took; nil if it is not gzip.
  mutating func decode(_ input: ArraySlice<UInt8>) -> (output: [UInt8], taken: Int)? {
    var (status, taken) = (Z_OK, 0)
    let output = [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { buffer, count in
      input.withUnsafeBytes { bytes in
        stream.pointee.next_in = UnsafeMutablePointer(
          mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(clamping: bytes.count)
        stream.pointee.next_out = buffer.baseAddress
        stream.pointee.avail_out = UInt32(buffer.count)
        status = inflate(stream, Z_NO_FLUSH)
        taken = bytes.count - Int(stream.pointee.avail_in)
        count = buffer.count - Int(stream.pointee.avail_out)
      }
    }
    isEnded = status == Z_STREAM_END
    guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else { return nil }
    return (output, taken)
  }
}
