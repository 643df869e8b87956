import Foundation
import HTTPCacheStore
import HTTPTypes

/// Copies the body of an HTTP response in a record to an archive, without its transfer coding.
///
/// Bytes behind the end that `Content-Length` gives are not part of the message (RFC 9112 §6.3) and are left out, unless
/// the recorder removed the content coding and kept the fields: the body then has another length than its coded form.
struct WARCBody {
  /// The bytes at the start of a body that tell whether it is in its content coding.
  static let startLength = 512

  private var chunks: ChunkedPieces?
  private var isFirst = true
  private var length: Int64 = 0
  private let expected: Int64?
  private let coding: String?
  /// Whether the body does not begin like one in the content coding that the fields name.
  private var looksDecoded = false
  /// Whether the recorder removed the content coding that the fields name: the length is then another one, too.
  var isDecoded: Bool { looksDecoded && expected != length }

  init(_ fields: HTTPFields) {
    let isChunked = fields[.transferEncoding]?.lowercased().hasSuffix("chunked") ?? false
    chunks = isChunked ? ChunkedPieces() : nil
    expected = isChunked ? nil : Self.length(fields)
    coding = fields[.contentEncoding]?.lowercased()
  }

  /// The number that `Content-Length` has; nil for another value. A list of equal numbers is that number (RFC 9112 §6.3).
  private static func length(_ fields: HTTPFields) -> Int64? {
    let numbers = (fields[.contentLength] ?? "").split(separator: ",", omittingEmptySubsequences: false).map {
      Int64($0.trimmingCharacters(in: .whitespaces))
    }
    guard case let length?? = numbers.first, length >= 0, numbers.allSatisfy({ $0 == length }) else {
      return nil
    }
    return length
  }

  /// Adds a piece.
  ///
  /// - Throws: `CacheError.damaged` if the transfer coding is broken, `CacheError.io`, `CacheError.noSpace`.
  mutating func append(
    _ piece: ArraySlice<UInt8>, to output: inout RecordingOutput
  ) throws(CacheError) {
    defer { isFirst = false }
    if chunks != nil {
      if let decoded = chunks?.decode(piece) {
        if length == 0, !decoded.isEmpty { looksDecoded = isUncoded(decoded[...]) }
        length += Int64(decoded.count)
        return try output.archive.append(BodyBytes(decoded))
      }
      // Some recorders remove the coding and keep the field.
      guard isFirst, chunks?.hasChunk == false else { throw CacheError(.damaged, "its chunks are broken") }
      chunks = nil
    }
    if length == 0 { looksDecoded = isUncoded(piece) }
    var piece = piece
    if let expected, !looksDecoded { piece = piece.prefix(Int(clamping: max(0, expected - length))) }
    length += Int64(piece.count)
    try output.archive.append(BodyBytes(piece))
  }

  /// Whether the start of a body is not in its content coding. Brotli, deflate and others have no signature: a body that
  /// begins like a text counts as decoded.
  private func isUncoded(_ start: ArraySlice<UInt8>) -> Bool {
    switch coding {
    case nil, "", "identity": false
    case "gzip", "x-gzip": !start.isEmpty && !start.starts(with: [0x1F, 0x8B].prefix(start.count))
    case "zstd": !start.isEmpty && !start.starts(with: [0x28, 0xB5, 0x2F, 0xFD].prefix(start.count))
    default: Self.isText(start.prefix(Self.startLength))
    }
  }

  private static func isText(_ start: ArraySlice<UInt8>) -> Bool {
    !start.isEmpty && start.allSatisfy { $0 >= 0x20 || (0x09...0x0D).contains($0) }
      && MediaType.ofContent(Array(start)) != "application/octet-stream"
  }

  /// Why the body is not whole; nil if it is.
  var objection: String? {
    if let chunks, !chunks.isEnded { return "the response was cut" }
    if let expected, !looksDecoded, expected > length {
      return "\(length) of \(expected) bytes were recorded"
    }
    return nil
  }
}
