/// A second reader of HTTP/1.1 for whole input, simple instead of fast: RFC 9112 with the documented limits and
/// refusals of the codec. It shares no code with the codec.
struct HTTP1Model {
  private typealias Message = HTTP1Transcript.Message

  private let bytes: [UInt8]
  private let direction: HTTP1Transcript.Direction
  private var position = 0
  /// The messages before the first refused or incomplete one.
  private(set) var messages: [HTTP1Transcript.Message] = []

  init(_ bytes: [UInt8], _ direction: HTTP1Transcript.Direction) {
    self.bytes = bytes
    self.direction = direction
    while let message = next() { messages.append(message) }
  }

  private mutating func next() -> Message? {
    // RFC 9112 §2.2: empty lines before a request line.
    if direction == .requests {
      for _ in 0..<4 where bytes[position...].starts(with: [0x0D, 0x0A]) { position += 2 }
    }
    guard let section = section(), section.count > 1 else { return nil }
    guard let start = StartLine(section[0], direction), let fields = fields(section.dropFirst()) else {
      return nil
    }
    guard let framing = framing(fields, start) else { return nil }
    var message = Message(fields: fields.map { $0.name + [0x3A] + $0.value }, framing: framing)
    guard readBody(&message) else { return nil }
    message.isComplete = true
    return message
  }

  /// The lines up to and including an empty line (RFC 9112 §2.1); nil if there is no empty line yet.
  private mutating func section() -> [[UInt8]]? {
    var lines: [[UInt8]] = []
    var index = position
    while index < bytes.count {
      guard let end = bytes[index...].firstIndex(of: 0x0A), end > index, bytes[end - 1] == 0x0D else {
        return nil
      }
      lines.append(Array(bytes[index..<(end - 1)]))
      index = end + 1
      guard let last = lines.last, last.isEmpty else { continue }
      guard index - position <= HTTP1Transcript.limits.headBytes else { return nil }
      position = index
      return lines
    }
    return nil
  }

  private typealias Field = (name: [UInt8], value: [UInt8])

  /// RFC 9112 §5: a name, a colon, a value between white space.
  private func fields(_ lines: some Collection<[UInt8]>) -> [Field]? {
    var fields: [Field] = []
    for line in lines where !line.isEmpty {
      guard let colon = line.firstIndex(of: 0x3A) else { return nil }
      var name = line[..<colon]
      if direction != .requests { while let last = name.last, last.isBlank { name.removeLast() } }
      guard !name.isEmpty, name.allSatisfy(\.isTokenByte) else { return nil }
      let value = line[(colon + 1)...].trimmed
      guard !value.contains(0), !value.contains(0x0D) else { return nil }
      fields.append((name.lowercased, value))
    }
    return fields.count <= HTTP1Transcript.limits.fieldCount ? fields : nil
  }

  /// RFC 9112 §6.3. Refuses every message that two readers could read with different lengths.
  private func framing(_ fields: [Field], _ start: StartLine) -> Framing? {
    let lengths = fields.filter { $0.name == Array("content-length".utf8) }
      .flatMap { $0.value.split(separator: 0x2C, omittingEmptySubsequences: false).map(\.trimmed) }
    let transfers = fields.filter { $0.name == Array("transfer-encoding".utf8) }
    let codings = transfers.flatMap { $0.value.split(separator: 0x2C).map { $0.trimmed.lowercased } }
      .filter { !$0.isEmpty }
    guard lengths.allSatisfy({ (1...18).contains($0.count) && $0.allSatisfy(\.isDigit) }) else { return nil }
    let numbers = Set(lengths.map { $0.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) } })
    guard numbers.count <= 1, numbers.isEmpty || transfers.isEmpty else { return nil }
    let isChunked = codings == [Array("chunked".utf8)]
    if direction == .requests {
      if transfers.isEmpty { return numbers.first.flatMap { $0 > 0 ? .length($0) : nil } ?? Framing.none }
      return isChunked && start.minorVersion > 0 ? .chunked : nil
    }
    if direction == .responsesToHead || start.status < 200 || [204, 304].contains(start.status) {
      return Framing.none
    }
    if isChunked { return start.minorVersion > 0 ? .chunked : nil }
    for coding in codings {
      let name = coding.prefix { $0 != 0x3B }.trimmed
      let known = ["chunked", "gzip", "x-gzip", "compress", "x-compress", "deflate"]
      if known.contains(String(decoding: name, as: UTF8.self)) { return nil }
    }
    if !transfers.isEmpty { return .untilClose }
    return numbers.first.map { $0 == 0 ? .none : .length($0) } ?? .untilClose
  }

  private mutating func readBody(_ message: inout Message) -> Bool {
    switch message.framing {
    case .none: return true
    case .length(let length):
      guard length <= bytes.count - position else { return false }
      message.content = Array(bytes[position..<(position + Int(length))])
      position += Int(length)
      return true
    case .untilClose:
      message.content = Array(bytes[position...])
      position = bytes.count
      return true
    case .chunked: return readChunks(&message)
    }
  }

  /// RFC 9112 §7.1.
  private mutating func readChunks(_ message: inout Message) -> Bool {
    while let end = bytes[position...].firstIndex(of: 0x0A) {
      let line = bytes[position..<end]
      let digits = line.prefix { $0.isHexDigit }
      let rest = line[digits.endIndex...].drop { $0.isBlank }
      guard line.last == 0x0D, (1...15).contains(digits.count), rest.first == 0x0D || rest.first == 0x3B,
        !rest.dropLast().contains(0x0D), !line.contains(0), line.count <= 16 << 10,
        let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
      else { return false }
      position = end + 1
      if size == 0 {
        guard let lines = section(), let trailers = fields(lines) else { return false }
        message.trailers = trailers.map { $0.name + [0x3A] + $0.value }
        return true
      }
      guard bytes.count - position >= 2, size <= bytes.count - position - 2,
        bytes[(position + size)...].starts(with: [0x0D, 0x0A])
      else { return false }
      message.content += bytes[position..<(position + size)]
      position += size + 2
    }
    return false
  }
}
