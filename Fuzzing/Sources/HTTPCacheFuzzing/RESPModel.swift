/// A second reader of replies, which shares no code with the decoder: it has all bytes at once, and reads arrays by
/// recursion.
struct RESPModel {
  private let input: [UInt8]
  private let limits: RESPLimits
  private var position = 0
  private var values = 0
  private var bytes = 0

  init(_ input: [UInt8], _ limits: RESPLimits) {
    self.input = input
    self.limits = limits
  }

  /// The replies before the first that is not whole, or none.
  mutating func replies() -> [RESPValue] {
    var replies: [RESPValue] = []
    while position < input.count {
      (values, bytes) = (0, 0)
      guard let reply = value(depth: 0) else { break }
      replies.append(reply)
    }
    return replies
  }

  private mutating func value(depth: Int) -> RESPValue? {
    guard let line = line() else { return nil }
    values += 1
    guard values <= limits.values else { return nil }
    let text = Array(line.dropFirst())
    switch Character(Unicode.Scalar(line[0])) {
    case "+": return .simple(text)
    case "-": return .error(String(decoding: text, as: UTF8.self))
    case ":": return Self.number(text).map { .integer($0) }
    case "$": return bulk(Self.number(text))
    case "*": return array(Self.number(text), depth: depth)
    default: return nil
    }
  }

  private mutating func line() -> [UInt8]? {
    guard let end = input[position...].firstIndex(of: 10), end - position <= limits.line, end - position >= 2,
      input[end - 1] == 13
    else { return nil }
    defer { position = end + 1 }
    return Array(input[position..<(end - 1)])
  }

  private mutating func bulk(_ length: Int64?) -> RESPValue? {
    guard let length, length >= -1 else { return nil }
    if length == -1 { return .null }
    guard length <= limits.bulk, bytes + Int(length) <= limits.bytes else { return nil }
    bytes += Int(length)
    let end = position + Int(length)
    guard end + 2 <= input.count, input[end] == 13, input[end + 1] == 10 else { return nil }
    defer { position = end + 2 }
    return .bulk(Array(input[position..<end]))
  }

  private mutating func array(_ count: Int64?, depth: Int) -> RESPValue? {
    guard let count, count >= -1 else { return nil }
    if count == -1 { return .null }
    if count == 0 { return .array([]) }
    guard count <= limits.values - values, depth < limits.depth else { return nil }
    var elements: [RESPValue] = []
    for _ in 0..<count {
      guard let element = value(depth: depth + 1) else { return nil }
      elements.append(element)
    }
    return .array(elements)
  }

  private static func number(_ text: [UInt8]) -> Int64? {
    let digits = text.first == 45 || text.first == 43 ? text.dropFirst() : text[...]
    guard text.count <= 20, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int64(String(decoding: text, as: UTF8.self))
  }
}
