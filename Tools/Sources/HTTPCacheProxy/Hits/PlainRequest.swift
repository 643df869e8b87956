import HTTPCacheLibC
import NIOHPACK

/// Recognises plain requests in arriving bytes: a GET or HEAD of HTTP/1.1 for a path or an `http` URL, whose head is
/// whole.
///
/// Two plain requests with equal keys get equal answers from memory at one time, if `Vary` names only fields of the key
/// (`FieldNameTable.isKeyed`). Whether there is such an answer, `HitLookup` decides once for a key: there is none for a
/// request with content, or that changes the protocol of its connection.
struct PlainRequest {
  /// Meaning of a field for a plain request.
  enum Field: UInt8 {
    /// Not part of the key: the value only matters if `Vary` names the field.
    case ignored
    /// As `other`, unless it is `keep-alive`, or names `TE` besides: that changes nothing.
    case connection
    /// Tells of the client. Counts only from a trusted proxy, and is removed from other requests.
    case client
    case host
    /// Its presence alone is part of the key: a guessed lifetime in a shared cache is not for requests with cookies. The
    /// value only matters if `Vary` names the field (RFC 9111 §4.1).
    case cookie
    case accept
    case acceptEncoding
    case acceptLanguage
    case origin
    /// Any other field: its name is part of the key, too.
    case other
  }

  /// Longer heads are not recognised.
  private static let longestHead = 8 << 10
  private static let shortestHead = 25
  /// The first octet of the key of a HEAD, with which no target begins.
  private static let head: UInt8 = 1
  private static let mostFields = 32

  /// The target and the fields that are part of the key, of the request that was found last.
  var key: [UInt8] = []
  let limits: MessageLimits

  init(limits: MessageLimits) {
    self.limits = limits
    key.reserveCapacity(512)
  }

  /// Looks for a whole plain request at the beginning of `bytes`, and sets `key`.
  ///
  /// - Parameter isTrusted: whether the client is a proxy that tells of its clients.
  /// - Returns: the number of bytes of its head; nil if the request is not whole or not plain.
  mutating func find(in bytes: UnsafeRawBufferPointer, isTrusted: Bool) -> Int? {
    guard bytes.count >= Self.shortestHead else { return nil }
    let isHead = Self.has(bytes, "HEAD ", at: 0)
    guard isHead || Self.has(bytes, "GET ", at: 0), let first = Self.lineEnd(in: bytes, from: 0),
      let target = Self.target(in: bytes, from: isHead ? 5 : 4, lineEnd: first),
      target.count <= limits.targetBytes
    else { return nil }
    key.removeAll(keepingCapacity: true)
    if isHead { key.append(Self.head) }
    append(bytes, target)
    var start = first + 2
    var count = 0
    while let end = Self.lineEnd(in: bytes, from: start) {
      if end == start { return end + 2 <= min(Self.longestHead, limits.headBytes) ? end + 2 : nil }
      count += 1
      guard count <= min(Self.mostFields, limits.fieldCount),
        take(bytes, start..<end, isTrusted: isTrusted)
      else { return nil }
      start = end + 2
    }
    return nil
  }

  /// Takes a field line; false if it is none.
  private mutating func take(
    _ bytes: UnsafeRawBufferPointer, _ line: Range<Int>, isTrusted: Bool
  ) -> Bool {
    guard let base = bytes.baseAddress, let found = memchr(base + line.lowerBound, 0x3A, line.count)
    else { return false }
    let colon = base.distance(to: UnsafeRawPointer(found))
    let name = UnsafeRawBufferPointer(rebasing: bytes[line.lowerBound..<colon])
    let value = UnsafeRawBufferPointer(rebasing: bytes[colon + 1..<line.upperBound])
    switch FieldNameTable.field(name) {
    case .ignored: break
    case .connection where Self.changesNothing(connection: value): break
    case .client where !isTrusted: break
    case .cookie: key.append(Field.cookie.rawValue)
    case .connection, .client, .other:
      key.append(Field.other.rawValue)
      append(bytes, line)
    case let field:
      key.append(field.rawValue)
      append(bytes, colon + 1..<line.upperBound)
    }
    return true
  }

  private static func changesNothing(connection value: UnsafeRawBufferPointer) -> Bool {
    FieldNameTable.isEqual(value, " keep-alive") || FieldNameTable.isEqual(value, " te")
      || FieldNameTable.isEqual(value, " keep-alive, te") || FieldNameTable.isEqual(value, " te, keep-alive")
  }

  /// Appends a part that has no line feed, and a line feed. So different requests have different keys.
  private mutating func append(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
    key.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[range]))
    key.append(0x0A)
  }

  private static func target(
    in bytes: UnsafeRawBufferPointer, from start: Int, lineEnd end: Int
  ) -> Range<Int>? {
    let length = 9
    guard end - length > start, has(bytes, " HTTP/1.1", at: end - length),
      bytes[start] == 0x2F || has(bytes, "http://", at: start)
    else { return nil }
    return start..<end - length
  }

  private static func has(_ bytes: UnsafeRawBufferPointer, _ text: StaticString, at start: Int) -> Bool {
    guard let base = bytes.baseAddress else { return false }
    return memcmp(base + start, text.utf8Start, text.utf8CodeUnitCount) == 0
  }

  /// The position of the CR LF that ends the line at `start`; nil if there is none, or the line has other control
  /// characters.
  private static func lineEnd(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard let base = bytes.baseAddress, start < bytes.count,
      let found = memchr(base + start, 0x0A, bytes.count - start)
    else { return nil }
    let end = base.distance(to: UnsafeRawPointer(found)) - 1
    guard end >= start, bytes[end] == 0x0D else { return nil }
    var index = start
    while index + 8 <= end {
      let octets = base.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      // Not 0 if an octet is below 0x20.
      guard (octets &- 0x2020_2020_2020_2020) & ~octets & 0x8080_8080_8080_8080 == 0 else { return nil }
      index += 8
    }
    while index < end {
      guard bytes[index] >= 0x20 else { return nil }
      index += 1
    }
    return end
  }
}

extension PlainRequest {
  /// Sets `key` for a well-formed request over HTTP/2 without a body. The key differs from every key of HTTP/1.1.
  ///
  /// - Parameter isTrusted: whether the client is a proxy that tells of its clients.
  /// - Returns: false if the request is not plain.
  mutating func find(in headers: HPACKHeaders, isTrusted: Bool) -> Bool {
    guard headers.count <= limits.fieldCount, headers.fit(limits) else { return false }
    key.removeAll(keepingCapacity: true)
    // A target of HTTP/1.1 does not begin so.
    key.append(0)
    for (name, value, _) in headers {
      guard let mark = Self.mark(of: name, value) else { return false }
      // No value has a line feed, so different requests have different keys. The slow path refuses spaces around values.
      guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }), value.utf8.first != 0x20,
        value.utf8.last != 0x20
      else { return false }
      if mark == Field.ignored.rawValue || mark == Field.client.rawValue && !isTrusted { continue }
      key.append(mark)
      if mark == Field.cookie.rawValue { continue }
      if mark == Field.other.rawValue || mark == Field.client.rawValue {
        // A name has no colon.
        key.append(contentsOf: name.utf8)
        key.append(0x3A)
      }
      key.append(contentsOf: value.utf8)
      key.append(0x0A)
    }
    return key.count <= limits.headBytes
  }

  /// The octet for a field in the key; nil if the request is not plain.
  private static func mark(of name: String, _ value: String) -> UInt8? {
    switch name {
    case ":method": return value == "GET" ? Field.ignored.rawValue : value == "HEAD" ? 0x83 : nil
    case ":path": return value.utf8.count <= 8 << 10 && value.utf8.first == 0x2F ? 0x80 : nil
    case ":scheme": return 0x81
    case ":authority": return 0x82
    default:
      var name = name
      return name.withUTF8 { FieldNameTable.field(UnsafeRawBufferPointer($0)) }.rawValue
    }
  }
}
