import Foundation
import HTTPCacheFiles
import HTTPCacheStore

/// Reads the entries of a HAR file one by one, in bounded memory: long strings stay in the file.
///
/// Only the structure is looked at here; whether an entry is JSON is for `JSONDecoder` to tell.
struct HARScanner: ~Copyable {
  /// One element of `log.entries`.
  struct Slice {
    /// The number of the entry, from 1.
    let number: Int
    /// The bytes of the entry in the file.
    let range: Range<Int64>
    /// The entry, in which long strings are replaced by `HARText.placeholder`.
    let json: [UInt8]
    /// The long strings, without their quotation marks.
    let strings: [Range<Int64>]
    /// Whether the entry was too large to keep; `json` is then empty.
    let isTooLarge: Bool
  }

  /// Strings of at least this many bytes stay in the file.
  private static let longString = 64 << 10
  private static let longestEntry = 8 << 20

  private var input: FileReader
  private let name: String
  private var count = 0

  /// Reads up to the first entry.
  ///
  /// - Throws: `CacheError.damaged` if the file is not a HAR file, `CacheError.io`.
  static func open(_ file: CacheFile, _ name: String) throws(CacheError) -> HARScanner {
    var scanner = HARScanner(try FileReader(file), name)
    try scanner.begin()
    return scanner
  }

  private init(_ input: consuming FileReader, _ name: String) {
    self.input = input
    self.name = name
  }

  private mutating func begin() throws(CacheError) {
    if try input.peek() == 0xEF { for _ in 0..<3 { _ = try input.byte() } }
    try find("log")
    try find("entries")
    try expect(UInt8(ascii: "["))
  }

  /// The next entry; nil at the end.
  ///
  /// - Throws: `CacheError.damaged` if the file ends within the entries, `CacheError.io`.
  mutating func next() throws(CacheError) -> Slice? {
    try skipSpace()
    if count > 0, try input.peek() == UInt8(ascii: ",") {
      _ = try input.byte()
      try skipSpace()
    }
    guard try input.peek() != UInt8(ascii: "]") else { return nil }
    count += 1
    let start = input.position
    var copy = Copy()
    try value(&copy)
    return Slice(
      number: count, range: start..<input.position, json: copy.isTooLarge ? [] : copy.bytes,
      strings: copy.strings, isTooLarge: copy.isTooLarge)
  }

  // MARK: JSON

  private struct Copy {
    var isKept = true
    var bytes: [UInt8] = []
    var strings: [Range<Int64>] = []
    var isTooLarge = false

    mutating func append(_ more: some Collection<UInt8>) {
      guard isKept, !isTooLarge else { return }
      if bytes.count + more.count > HARScanner.longestEntry { isTooLarge = true }
      bytes.append(contentsOf: more)
    }
  }

  /// Enters an object and goes to the value of a member.
  private mutating func find(_ wanted: String) throws(CacheError) {
    try expect(UInt8(ascii: "{"))
    while true {
      try skipSpace()
      var key = Copy()
      try string(&key)
      try expect(UInt8(ascii: ":"))
      if key.bytes == Array("\"\(wanted)\"".utf8) { return }
      var skipped = Copy(isKept: false)
      try value(&skipped)
      try expect(UInt8(ascii: ","))
    }
  }

  private mutating func expect(_ byte: UInt8) throws(CacheError) {
    try skipSpace()
    guard try input.peek() == byte else { throw damaged() }
    _ = try input.byte()
  }

  private mutating func skipSpace() throws(CacheError) {
    while try !input.run(while: { $0 == 0x20 || (0x09...0x0D).contains($0) }).isEmpty {}
  }

  /// Reads a value up to its end.
  private mutating func value(_ copy: inout Copy) throws(CacheError) {
    try skipSpace()
    var depth = 0
    repeat {
      guard let byte = try input.peek() else { throw damaged() }
      switch byte {
      case UInt8(ascii: "\""):
        try string(&copy)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        _ = try input.byte()
        copy.append(CollectionOfOne(byte))
        depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard depth > 0 else { throw damaged() }
        _ = try input.byte()
        copy.append(CollectionOfOne(byte))
        depth -= 1
      default:
        try plain(&copy, isNested: depth > 0)
      }
    } while depth > 0
  }

  /// Reads numbers, words and, in an object or array, what is between them.
  private mutating func plain(_ copy: inout Copy, isNested: Bool) throws(CacheError) {
    var isEmpty = true
    while true {
      let run = try input.run { !Self.isStructure($0) || (isNested && $0 == UInt8(ascii: ",")) }
      if run.isEmpty { break }
      copy.append(run)
      isEmpty = false
    }
    if isEmpty { throw damaged() }
  }

  private static func isStructure(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "}"), UInt8(ascii: "]"),
      UInt8(ascii: ","):
      true
    default: false
    }
  }

  private mutating func string(_ copy: inout Copy) throws(CacheError) {
    guard try input.byte() == UInt8(ascii: "\"") else { throw damaged() }
    let start = input.position
    var kept: [UInt8] = []
    while true {
      let run = try input.run { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
      if kept.count < Self.longString, copy.isKept { kept.append(contentsOf: run) }
      guard let byte = try input.byte() else { throw damaged() }
      if byte == UInt8(ascii: "\"") { break }
      if byte == UInt8(ascii: "\\") {
        guard let escaped = try input.byte() else { throw damaged() }
        if kept.count < Self.longString, copy.isKept { kept.append(contentsOf: [byte, escaped]) }
      } else if kept.count < Self.longString, copy.isKept {
        kept.append(byte)
      }
    }
    guard copy.isKept else { return }
    if kept.count < Self.longString {
      copy.append(CollectionOfOne(UInt8(ascii: "\"")))
      copy.append(kept)
      copy.append(CollectionOfOne(UInt8(ascii: "\"")))
    } else {
      copy.append(Array("\"\(HARText.placeholder(copy.strings.count, isEscaped: true))\"".utf8))
      copy.strings.append(start..<input.position - 1)
    }
  }

  private func damaged() -> CacheError {
    CacheError(.damaged, "\(name) is not a HAR file: unexpected end or character at byte \(input.position)")
  }
}

extension HARScanner.Slice {
  /// Reads the entry.
  ///
  /// - Throws: `CacheError.damaged`, which names the member that is not as HAR 1.2 has it.
  func entry(_ decoder: JSONDecoder) throws(CacheError) -> HAREntry {
    if isTooLarge { throw CacheError(.damaged, "larger than 8 MiB without its body") }
    do { return try decoder.decode(HAREntry.self, from: Data(json)) } catch {
      throw CacheError(.damaged, "not as HAR 1.2 has it: \(Self.reason(error))")
    }
  }

  private static func reason(_ error: any Error) -> String {
    switch error as? DecodingError {
    case .keyNotFound(let key, let context): "\(path(context.codingPath + [key])) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      context.codingPath.isEmpty
        ? "the entry is no JSON object" : "\(path(context.codingPath)) is of another kind"
    default: "the entry is no JSON object"
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.map(\.stringValue).joined(separator: ".")
  }
}
