import HTTPCacheSemantics
import HTTPTypes

extension HostileExchange {
  /// Reads the text form; every text is valid.
  public init(_ octets: UnsafeRawBufferPointer) {
    self.init()
    var lines = octets.split(separator: 0x0A, maxSplits: 4_096, omittingEmptySubsequences: false)[...]
    if let options = lines.popFirst() { read(options: options) }
    if let message = Self.message(&lines) { request = Self.request(message) }
    if let message = Self.message(&lines) { response = Self.response(message) }
    if let message = Self.message(&lines) { newer = Self.response(message) }
    if let message = Self.message(&lines) { other = Self.request(message) }
  }

  /// The text form.
  public var text: [UInt8] {
    var text: [UInt8] = []
    var options = rules.mode == .shared ? "s" : "-"
    options += rules.targetedFields.isEmpty ? "-" : "t"
    options += rules.normalizesVary ? "-" : "n"
    options += isDecoded ? "d" : "-"
    options += String(Self.policies.firstIndex(of: policy) ?? 0)
    for number in times.map(\.seconds) + [length] { options += " \(number)" }
    text += Array((options + "\n").utf8)
    Self.append(request, to: &text)
    Self.append("\(response.status.code)", response.headerFields, to: &text)
    Self.append("\(newer.status.code)", newer.headerFields, to: &text)
    Self.append(other, to: &text)
    return text
  }

  private mutating func read(options: Slice<UnsafeRawBufferPointer>) {
    let words = options.split(separator: 0x20)
    guard let letters = words.first else { return }
    for letter in letters {
      switch letter {
      case UInt8(ascii: "s"): rules.mode = .shared
      case UInt8(ascii: "t"): rules.targetedFields = ["CDN-Cache-Control"]
      case UInt8(ascii: "n"): rules.normalizesVary = false
      case UInt8(ascii: "d"): isDecoded = true
      case 0x30...0x37: policy = Self.policies[Int(letter - 0x30)]
      default: break
      }
    }
    let numbers = words.dropFirst().map { Int64(String(decoding: $0, as: UTF8.self)) ?? 0 }
    for (index, number) in numbers.prefix(3).enumerated() { times[index] = Timestamp(seconds: number) }
    if numbers.count > 3 { length = max(0, numbers[3]) }
  }

  private typealias Line = Slice<UnsafeRawBufferPointer>

  private static func message(_ lines: inout ArraySlice<Line>) -> (start: Line, HTTPFields)? {
    guard let start = lines.popFirst() else { return nil }
    var fields = HTTPFields()
    while let line = lines.popFirst(), !line.isEmpty {
      let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
      guard let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self)) else { continue }
      // One space is part of the form, more of them belong to the value.
      var value = line[colon...].dropFirst()
      if value.first == 0x20 { value.removeFirst() }
      fields.append(HTTPField(name: name, lenientValue: Array(value)))
    }
    return (start, fields)
  }

  private static func request(_ message: (start: Line, HTTPFields)) -> HTTPRequest {
    let words = message.start.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
    return HTTPRequest(
      method: words.first.flatMap { HTTPRequest.Method(rawValue: $0) } ?? .get, scheme: "https",
      authority: words.count > 2 ? words[2] : "a.b", path: words.count > 1 ? words[1] : "/",
      headerFields: message.1)
  }

  private static func response(_ message: (start: Line, HTTPFields)) -> HTTPResponse {
    let code = Int(String(decoding: message.start, as: UTF8.self)) ?? 200
    return HTTPResponse(
      status: .init(code: (100...999).contains(code) ? code : 200), headerFields: message.1)
  }

  private static func append(_ request: HTTPRequest, to text: inout [UInt8]) {
    let start = "\(request.method.rawValue) \(request.path ?? "") \(request.authority ?? "")"
    append(start, request.headerFields, to: &text)
  }

  private static func append(_ start: String, _ fields: HTTPFields, to text: inout [UInt8]) {
    text += Array((start + "\n").utf8)
    for field in fields {
      text += Array((field.name.rawName + ": ").utf8)
      field.withUnsafeBytesOfValue { text.append(contentsOf: $0) }
      text.append(0x0A)
    }
    text.append(0x0A)
  }
}
