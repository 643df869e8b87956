import CZlib
public import Foundation
public import HTTPCacheStore

/// Decodes deflate piece by piece (RFC 1951, with zlib): content codings, and members of files.
public struct DeflateDecoder: ~Copyable {
  /// The wrapping of the deflated bytes.
  public enum Format: Sendable {
    /// Members of gzip (RFC 1952), also several that follow each other.
    case gzip
    /// The header and checksum of zlib (RFC 1950).
    case zlib
    /// Nothing, as in a ZIP file.
    case raw
  }

  /// The bytes do not have the format, or memory ran out.
  public struct Failure: LocalizedError, Sendable, CustomStringConvertible {
    /// Makes a failure, for bytes that end too early.
    public init() {}

    /// The failure in words.
    public var description: String { "deflated bytes are damaged or end too early, or memory ran out" }

    /// The failure in words.
    public var errorDescription: String? { description }
  }

  private static let pieceLength = 128 << 10

  private let format: Format
  private let stream: UnsafeMutablePointer<z_stream>
  /// Whether the last member has ended.
  public private(set) var isEnded = false
  /// Whether the last piece was full, so that there may be another without more input.
  public private(set) var hasOutput = false
  /// Whether any input has come.
  public private(set) var hasBegun = false

  /// Makes a decoder with the largest window, 32 KiB.
  ///
  /// - Parameter format: what is around the deflated bytes.
  /// - Throws: `Failure` if memory runs out.
  public init(_ format: Format = .gzip) throws(Failure) {
    self.format = format
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let windowBits =
      switch format {
      case .gzip: 16 + MAX_WBITS
      case .zlib: MAX_WBITS
      case .raw: -MAX_WBITS
      }
    guard inflateInit2_(stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
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
      // Several members of gzip may follow each other (RFC 1952 §2.2); other bytes after the end are padding.
      guard format == .gzip, input.withUnsafeBytes({ $0.first }) == 0x1F else {
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
        hasOutput = stream.pointee.avail_out == 0 && status != Z_STREAM_END
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
