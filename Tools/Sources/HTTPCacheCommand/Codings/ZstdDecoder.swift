import CZstd
import HTTPCaching

/// Decodes a body in zstd (RFC 8878). Its window has at most 8 MiB (RFC 9659).
final class ZstdDecoder: ContentDecoder {
  private static let pieceLength = 128 << 10
  private static let windowLog: Int32 = 23

  private let stream: OpaquePointer
  private(set) var isEnded = false
  private(set) var hasBegun = false
  private(set) var hasOutput = false

  init() throws(ContentCodingFailure) {
    guard let stream = ZSTD_createDStream() else { throw ContentCodingFailure(coding: .zstd) }
    self.stream = stream
    ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, Self.windowLog)
  }

  deinit { ZSTD_freeDStream(stream) }

  func decode(_ input: inout BodyBytes) throws(ContentCodingFailure) -> BodyBytes {
    if !input.isEmpty { hasBegun = true }
    // Another frame may follow, or one to skip (RFC 8878 §3.1), and nothing else.
    if isEnded, let first = input.withUnsafeBytes({ $0.first }), first != 0x28, first & 0xF0 != 0x50 {
      throw ContentCodingFailure(coding: .zstd, reason: .trailing)
    }
    guard !isEnded || !input.isEmpty else { return BodyBytes() }
    var result = 0
    var (consumed, isFull) = (0, false)
    let output = BodyBytes(unsafeUninitializedCapacity: Self.pieceLength) { buffer in
      input.withUnsafeBytes { bytes in
        var source = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
        var target = ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
        result = ZSTD_decompressStream(stream, &target, &source)
        (consumed, isFull) = (source.pos, target.pos == target.size)
        return ZSTD_isError(result) == 0 ? target.pos : 0
      }
    }
    guard ZSTD_isError(result) == 0 else {
      let isWindow = ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge
      throw ContentCodingFailure(
        coding: .zstd, reason: isWindow ? .window(limit: 1 << Int(Self.windowLog)) : .malformed)
    }
    input = input.dropFirst(consumed)
    isEnded = result == 0
    hasOutput = isFull && !isEnded
    return output
  }
}
