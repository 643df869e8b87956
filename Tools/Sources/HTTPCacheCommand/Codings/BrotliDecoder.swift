import CBrotli
import HTTPCaching

/// Decodes a body in brotli (RFC 7932). Its window has at most 16 MiB.
final class BrotliDecoder: ContentDecoder {
  private static let pieceLength = 128 << 10

  private let state: OpaquePointer
  private(set) var isEnded = false
  private(set) var hasBegun = false
  private(set) var hasOutput = false

  init() throws(ContentCodingFailure) {
    guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else {
      throw ContentCodingFailure(coding: .br)
    }
    self.state = state
  }

  deinit { BrotliDecoderDestroyInstance(state) }

  func decode(_ input: inout BodyBytes) throws(ContentCodingFailure) -> BodyBytes {
    if !input.isEmpty { hasBegun = true }
    guard !isEnded else {
      guard input.isEmpty else { throw ContentCodingFailure(coding: .br, reason: .trailing) }
      return BodyBytes()
    }
    let count = input.count
    var rest = count
    var result = BROTLI_DECODER_RESULT_ERROR
    let output = BodyBytes(unsafeUninitializedCapacity: Self.pieceLength) { buffer in
      input.withUnsafeBytes { bytes in
        var source = bytes.bindMemory(to: UInt8.self).baseAddress
        var target = buffer.bindMemory(to: UInt8.self).baseAddress
        var free = buffer.count
        result = BrotliDecoderDecompressStream(state, &rest, &source, &free, &target, nil)
        return buffer.count - free
      }
    }
    input = input.dropFirst(count - rest)
    isEnded = result == BROTLI_DECODER_RESULT_SUCCESS
    hasOutput = result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT
    guard result != BROTLI_DECODER_RESULT_ERROR else { throw ContentCodingFailure(coding: .br) }
    return output
  }
}
