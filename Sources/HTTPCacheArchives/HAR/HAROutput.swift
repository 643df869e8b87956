import Foundation
import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Writes a HAR file entry by entry; bodies are streamed.
struct HAROutput: ~Copyable {
  /// Longer bodies are written in Base64 without looking whether they are text.
  private static let longestText: Int64 = 4 << 20
  /// Stands for the body while its entry is encoded; no field of HTTP can hold it.
  private static let mark = "\u{1}body\u{1}"

  let file: CacheFile
  private var isEmpty = true
  private let encoder: JSONEncoder

  /// Begins a file.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  init(_ file: CacheFile) throws(CacheError) {
    self.file = file
    encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try Self.write(
      "{\"log\": {\"version\": \"1.2\", \"creator\": {\"name\": \"httpcache\", \"version\": \"1\"}, \"entries\": [",
      to: file)
  }

  private static func write(_ text: String, to file: CacheFile) throws(CacheError) {
    try file.write(BodyBytes(Array(text.utf8)))
  }

  /// Copies an entry as it is.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  mutating func copy(_ range: Range<Int64>, of other: CacheFile) throws(CacheError) {
    try separate()
    var position = range.lowerBound
    while position < range.upperBound {
      let count = Int(min(256 << 10, range.upperBound - position))
      try file.write(try other.read(count, at: position))
      position += Int64(count)
    }
  }

  private mutating func separate() throws(CacheError) {
    try Self.write(isEmpty ? "\n" : ",\n", to: file)
    isEmpty = false
  }

  /// Adds an exchange.
  ///
  /// - Parameters:
  ///   - entry: the exchange without the text of the response's body.
  ///   - body: reads the body.
  ///   - length: the length of the body in bytes.
  /// - Throws: what reading the body throws, `CacheError.io`, `CacheError.noSpace`.
  mutating func add(
    _ entry: HAREntry, body: any BodyReader, length: Int64
  ) async throws(CacheError) {
    let text = try await Self.text(body, length, type: entry.response.content?.mimeType)
    var entry = entry
    var content = entry.response.content ?? HAREntry.Content()
    content.size = length
    content.text = Self.mark
    content.encoding = text == nil ? "base64" : nil
    entry.response.content = content
    guard let json = try? encoder.encode(entry),
      let mark = json.range(of: Self.encodedMark, options: .backwards)
    else { throw CacheError(.io, "the exchange with \(entry.request.url) cannot be written as JSON") }
    try separate()
    try file.write(BodyBytes(json[..<mark.lowerBound]))
    if let text, let encoded = try? JSONEncoder.plain.encode(text) {
      try file.write(BodyBytes(encoded.dropFirst().dropLast()))
    } else {
      try await base64(body, length)
    }
    try file.write(BodyBytes(json[mark.upperBound...]))
  }

  private static let encodedMark = Data("\\u0001body\\u0001".utf8)

  private static func text(
    _ body: any BodyReader, _ length: Int64, type: String?
  ) async throws(CacheError) -> String? {
    guard length <= longestText, MediaType.isText(type), !Charset.isOther(type) else { return nil }
    let bytes = try await body.readCancellably(0..<length).array
    // A text that is not ASCII must name UTF-8, or a reader could not tell the bytes again.
    guard Charset.isUTF8(type) || bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  private func base64(_ body: any BodyReader, _ length: Int64) async throws(CacheError) {
    var position: Int64 = 0
    // A multiple of 3, so that only the last piece has padding.
    let step: Int64 = 192 << 10
    while position < length {
      let piece = try await body.readCancellably(position..<min(length, position + step))
      try file.write(BodyBytes(Data(piece.array).base64EncodedData()))
      position += Int64(piece.count)
    }
  }

  /// Ends the file.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  func finish() throws(CacheError) { try Self.write("\n]}}\n", to: file) }
}

extension JSONEncoder {
  fileprivate static var plain: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return encoder
  }
}
