import CZlib
import HTTPCacheStore

/// Makes gzip members (RFC 1952, with zlib). Equal input makes equal bytes: a member has no time and no name.
struct Deflation: ~Copyable {
  private static let pieceLength = 128 << 10
  private static let windowBits: Int32 = 16 + MAX_WBITS

  private let stream: UnsafeMutablePointer<z_stream>

  /// - Throws: `CacheError.io` if memory runs out.
  init() throws(CacheError) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let status = deflateInit2_(
      stream, 6, Z_DEFLATED, Self.windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else {
      stream.deallocate()
      throw CacheError(.io, "no memory to compress")
    }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  /// Adds bytes to the member.
  ///
  /// - Parameter isLast: whether the member ends with them.
  /// - Returns: compressed bytes.
  func encode(_ bytes: BodyBytes, isLast: Bool) -> [UInt8] {
    var output: [UInt8] = []
    bytes.withUnsafeBytes { input in
      stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
      stream.pointee.avail_in = UInt32(input.count)
      repeat {
        output += [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { buffer, count in
          stream.pointee.next_out = buffer.baseAddress
          stream.pointee.avail_out = UInt32(buffer.count)
          deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
          count = buffer.count - Int(stream.pointee.avail_out)
        }
      } while stream.pointee.avail_out == 0
    }
    if isLast { deflateReset(stream) }
    return output
  }
}
