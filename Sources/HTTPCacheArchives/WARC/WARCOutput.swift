import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore

/// Writes the records of a WARC file.
struct WARCOutput: ~Copyable {
  /// A record whose block is the head of an HTTP message, then a body.
  struct Record {
    let type: String
    let id: String
    let target: String
    /// In seconds since 1970.
    let time: Int64
    let head: [UInt8]
    var bodyLength: Int64 = 0
    /// The record that it belongs to.
    var concurrent: String?
    /// The record that has its body, for a revisit.
    var bodyOf: String?
  }

  private static let pieceLength: Int64 = 256 << 10
  /// The kind of a revisit whose body equals that of another record (WARC 1.1 §6.7.2).
  private static let identicalPayload =
    "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

  private let file: CacheFile
  private let deflation: Deflation?

  /// - Throws: `CacheError.io` if memory runs out.
  init(_ file: CacheFile, isCompressed: Bool) throws(CacheError) {
    self.file = file
    deflation = isCompressed ? try Deflation() : nil
  }

  /// The identifier of a record with this content.
  func identifier(_ bytes: [UInt8]) -> String {
    let digits = [XXH64.hash(bytes, seed: 0), XXH64.hash(bytes, seed: 1)].map {
      let text = String($0, radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }.joined()
    var name = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { name += "-" }
      // The version of a UUID made by a rule of its own (RFC 9562 §5.8).
      name.append(index == 12 ? "8" : index == 16 ? "a" : digit)
    }
    return "<urn:uuid:\(name)>"
  }

  /// Writes the record that tells what made the file.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  func information() throws(CacheError) {
    let block = "software: httpcache\r\nformat: WARC File Format 1.1\r\n"
    let header =
      "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: \(identifier(Array(block.utf8)))\r\nWARC-Date: "
      + "\(RecordedTime.text(0, hasFraction: false))\r\nContent-Type: application/warc-fields\r\n"
      + "Content-Length: \(block.utf8.count)\r\n\r\n"
    try write(BodyBytes(Array((header + block + "\r\n\r\n").utf8)), isLast: true)
  }

  /// Writes a record.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`, what reading the body throws.
  func add(_ record: Record, body: (any BodyReader)? = nil) async throws(CacheError) {
    var header =
      "WARC/1.1\r\nWARC-Type: \(record.type)\r\nWARC-Record-ID: \(record.id)\r\nWARC-Target-URI: \(record.target)\r\n"
    header += "WARC-Date: \(RecordedTime.text(record.time, hasFraction: false))\r\n"
    if let other = record.concurrent { header += "WARC-Concurrent-To: \(other)\r\n" }
    if let other = record.bodyOf {
      header += "WARC-Refers-To: \(other)\r\nWARC-Profile: \(Self.identicalPayload)\r\n"
    }
    header +=
      "Content-Type: application/http; msgtype=\(record.type == "revisit" ? "response" : record.type)\r\n"
    header += "Content-Length: \(Int64(record.head.count) + record.bodyLength)\r\n\r\n"
    try write(BodyBytes(Array(header.utf8) + record.head), isLast: false)
    if let body {
      for start in stride(from: 0, to: record.bodyLength, by: Int(Self.pieceLength)) {
        let end = min(record.bodyLength, start + Self.pieceLength)
        try write(try await body.readCancellably(start..<end), isLast: false)
      }
    }
    try write(BodyBytes(Array("\r\n\r\n".utf8)), isLast: true)
  }

  private func write(_ bytes: BodyBytes, isLast: Bool) throws(CacheError) {
    if deflation != nil {
      let compressed = deflation?.encode(bytes, isLast: isLast) ?? []
      try file.write(BodyBytes(compressed))
    } else {
      try file.write(bytes)
    }
  }
}
