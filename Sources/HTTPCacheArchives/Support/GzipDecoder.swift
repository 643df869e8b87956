import CZlib
public import HTTPCacheStore

/// Decodes gzip piece by piece, as a content coding and as the members of a file (RFC 1952, with zlib).
public struct GzipDecoder: ~Copyable {
  /// The bytes are not gzip, or memory ran out.
  public struct Failure: Error {
    /// Makes a failure, for bytes that end too early.
    public init() {}
  }

  private static let pieceLength = 128 << 10
  /// A gzip header instead of one of zlib, with the largest window.
  private static let windowBits: Int32 = 16 + MAX_WBITS
  /// No header at all, as in a ZIP file.
  private static let rawWindowBits: Int32 = -MAX_WBITS

  private let stream: UnsafeMutablePointer<z_stream>
  /// Whether the last member has ended.
  public private(set) var isEnded = false
  /// Whether the last piece was full, so that there may be another without more input.
  public private(set) var hasOutput = false
  /// Whether any input has come.
  public private(set) var hasBegun = false

  /// Makes a decoder.
  ///
  /// - Throws: `Failure` if memory runs out.
  public init() throws(Failure) { try self.init(isRaw: false) }

  /// Makes a decoder.
  ///
  /// - Parameter isRaw: whether the bytes are of deflate alone (RFC 1951), as in a ZIP file.
  /// - Throws: `Failure` if memory runs out.
  init(isRaw: Bool) throws(Failure) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    guard
      inflateInit2_(
        stream, isRaw ? Self.rawWindowBits : Self.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)
      ) == Z_OK
    else {
      stream.deallocate()
      throw Failure()
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Decodes bytes until one piece is full.
  ///
  /// - Parameter input: the bytes that were read are removed from it.
  /// - Returns: a piece; empty if more input is needed.
  /// - Throws: `Failure`.
  public mutating func decode(_ input: inout BodyBytes) throws(Failure) -> BodyBytes {
    var status = Z_OK
    var rest = 0
    let count = input.count
    if count > 0 { hasBegun = true }
    if isEnded {
      // Several members may follow each other (RFC 1952 §2.2); other bytes after a member are padding.
      guard input.withUnsafeBytes({ $0.first }) == 0x1F else {
        input = BodyBytes()
        return BodyBytes()
      }
      inflateReset(stream)
      isEnded = false
    }
    let output = BodyBytes(unsafeUninitializedCapacity: Self.pieceLength) { buffer in
      input.withUnsafeBytes { bytes in
        let start = bytes.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.next_in = UnsafeMutablePointer(mutating: start)
        stream.pointee.avail_in = UInt32(bytes.count)
        stream.pointee.next_out = buffer.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(buffer.count)
        status = inflate(stream, Z_NO_FLUSH)
        rest = Int(stream.pointee.avail_in)
        hasOutput = stream.pointee.avail_out == 0
        return buffer.count - Int(stream.pointee.avail_out)
      }
    }
    input = input.dropFirst(count - rest)
    isEnded = status == Z_STREAM_END
    // Z_BUF_ERROR: more input is needed.
    guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else { throw Failure() }
    return output
  }
}
