import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Makes seeds of the records of a WARC file: `response`, `resource`, and `revisit` of a response with equal content;
/// and of those of an ARC file. A damaged record is left out with a note, and reading goes on with the next one.
struct WARCImport: ~Copyable {
  /// A body, and the number of the record that has it.
  struct KnownBody {
    let body: ArchiveOutput.Body
    let number: Int
  }

  /// A revisit of a record that may come later.
  struct Revisit {
    let record: WARCRecord
    let message: HTTPMessageHead?
    let number: Int
  }

  /// Revisits that wait for a later record; more are left out.
  static let mostRevisits = 10_000
  /// The bytes of heads that are kept for revisits without a head of their own.
  static let mostHeadBytes = 16 << 20

  var input: WARCInput
  var number: Int
  /// Comes before the numbers of records in notes: the name of the part of a WACZ file.
  let part: String
  var pairs = WARCPairs()
  var bodies: [NameHash: KnownBody] = [:]
  var heads: [Int: RecordedHead] = [:]
  var headBytes = 0
  var revisits: [Revisit] = []

  private init(input: consuming WARCInput, part: String, after number: Int) {
    self.input = input
    self.part = part
    self.number = number
  }

  /// Adds the responses of a WARC file or an ARC file.
  ///
  /// - Parameters:
  ///   - part: comes before the numbers of records in notes.
  ///   - number: the number of records before this file, which its own ones follow.
  /// - Returns: the number of the last record.
  /// - Throws: `CacheError.damaged` if the file has no record at all, `CacheError.tooLarge` if it unpacks to too much,
  ///   `CacheError.io`, `CacheError.noSpace`.
  @discardableResult
  static func run(
    _ file: CacheFile, name: String, part: String = "", after number: Int = 0,
    into output: inout RecordingOutput
  ) throws(CacheError) -> Int {
    var reading = WARCImport(input: try WARCInput(file), part: part, after: number)
    let isARC = try reading.input.comes(ARCHeader.start.utf8)
    let sound = isARC ? try reading.arcRecords(&output) : try reading.records(&output)
    guard sound > 0 else { throw CacheError(.damaged, "\(name) is not a WARC file") }
    return reading.number
  }

  /// The place of a record, for notes.
  func place(_ number: Int) -> String { "\(part)record \(number)" }

  /// The number of records that are sound.
  private mutating func records(_ output: inout RecordingOutput) throws(CacheError) -> Int {
    var sound = 0
    while true {
      try input.beginRecord()
      if input.damage == nil, try input.isAtEnd() { break }
      number += 1
      do throws(CacheError) {
        try record(&output)
        sound += 1
      } catch {
        guard error.code == .damaged else { throw error }
        try output.archive.discardBody()
        output.note("\(place(number)): \(input.damage ?? error.message): left out")
        guard try input.resume() else { break }
      }
    }
    try end(&output)
    return sound
  }

  private mutating func record(_ output: inout RecordingOutput) throws(CacheError) {
    guard let record = try WARCRecord(&input) else {
      throw CacheError(.damaged, "not the header of a record")
    }
    let end = input.taken + record.length
    switch record.type {
    case "response":
      // The header should name the type of the block, and need not (WARC 1.1 §5.6).
      let isMessage = record.length >= 5 ? try input.comes("HTTP/".utf8) : false
      if isMessage || record.isHTTP ?? (record.target != nil) {
        try response(record, end: end, to: &output)
      } else {
        try resource(record, end: end, to: &output)
      }
    case "resource": try resource(record, end: end, to: &output)
    case "revisit": try revisit(record, end: end, to: &output)
    case "request": try request(record, end: end, to: &output)
    default: try finish(end)
    }
  }

  /// Adds what waited for a later record.
  mutating func end(_ output: inout RecordingOutput) throws(CacheError) {
    let waiting = revisits
    revisits = []
    for revisit in waiting where try !add(revisit, to: &output) {
      let target = revisit.record.target ?? ""
      output.note("\(place(revisit.number)): \(target): the recording has no body for it")
    }
    for response in pairs.rest() { try add(response, &output) }
  }

  /// Goes to the end of the record, and checks that it ends there: otherwise its length is wrong.
  private mutating func finish(_ end: Int64) throws(CacheError) {
    try skip(to: end)
    if try input.comes("\r\n\r\n".utf8) {
      _ = try input.take(upTo: 4)
      return
    }
    // Some recorders end records in their own way.
    try input.skipLineEnds()
    if try input.isAtEnd() { return }
    guard try input.comes("WARC/".utf8) else {
      throw CacheError(.damaged, "the length of the record is wrong")
    }
  }

  /// Goes to a place of the input.
  mutating func skip(to end: Int64) throws(CacheError) {
    while input.taken < end {
      guard try !input.take(upTo: end - input.taken).isEmpty else {
        throw CacheError(.damaged, "the record was cut")
      }
    }
  }

  private mutating func response(
    _ record: WARCRecord, end: Int64, to output: inout RecordingOutput
  ) throws(CacheError) {
    guard let target = record.target,
      let found = try message(to: target, at: record.time ?? 0, length: record.length, end: end, &output)
    else {
      try finish(end)
      return output.note("\(place(number)): not a response to an http or https URL")
    }
    try finish(end)
    var objection = record["warc-truncated"].map { "cut when it was recorded (\($0))" }
    if record["warc-segment-number"] != nil { objection = "in several records" }
    if let objection = found.head.objection ?? objection ?? found.objection {
      output.note("\(place(number)): \(target): \(objection)")
      return try output.archive.discardBody()
    }
    try keep(found.head, body: try output.archive.endBody(), of: record, number, to: &output)
  }

  /// Reads the HTTP response of a block, and copies its body.
  ///
  /// - Returns: its head, and why its body is not whole; nil if the block is no HTTP response.
  mutating func message(
    to target: String, at time: Int64, length: Int64, end: Int64, _ output: inout RecordingOutput
  ) throws(CacheError) -> (head: RecordedHead, objection: String?)? {
    guard var message = try HTTPMessageHead(&input, length: length) else { return nil }
    // Interim responses come before the final one (RFC 9110 §15.2); some recorders keep them.
    while let status = message.status, (100..<200).contains(status), status != 101 {
      guard let next = try HTTPMessageHead(&input, length: end - input.taken) else { break }
      message = next
    }
    guard let status = message.status else { return nil }
    var head = RecordedHead(
      target: target, status: status, fields: message.fields, request: nil, times: (time, time))
    var body = WARCBody(message.fields)
    while input.taken < end {
      let piece = try input.take(upTo: end - input.taken)
      guard !piece.isEmpty else { throw CacheError(.damaged, "the record was cut") }
      try body.append(piece, to: &output)
    }
    head.isDecoded = body.isDecoded
    return (head, body.objection)
  }

  private mutating func resource(
    _ record: WARCRecord, end: Int64, to output: inout RecordingOutput
  ) throws(CacheError) {
    guard let target = record.target else { return try finish(end) }
    let start = try input.ahead(Int(min(512, record.length)))
    let type = record["content-type"] ?? MediaType.ofContent(Array(start))
    while input.taken < end {
      let piece = try input.take(upTo: end - input.taken)
      guard !piece.isEmpty else { throw CacheError(.damaged, "the record was cut") }
      try output.archive.append(BodyBytes(piece))
    }
    try finish(end)
    if record["warc-segment-number"] != nil {
      output.note("\(place(number)): \(target): in several records")
      return try output.archive.discardBody()
    }
    let head = RecordedHead(
      target: target, status: 200, fields: HTTPField.isValidValue(type) ? [.contentType: type] : [:],
      request: nil, times: (record.time ?? 0, record.time ?? 0))
    try keep(head, body: try output.archive.endBody(), of: record, number, to: &output)
  }

  private mutating func revisit(
    _ record: WARCRecord, end: Int64, to output: inout RecordingOutput
  ) throws(CacheError) {
    let message = record.length > 0 ? try HTTPMessageHead(&input, length: record.length) : nil
    try finish(end)
    // The recording has the earlier response.
    if record.isConfirmation || message?.status == 304 { return }
    let revisit = Revisit(record: record, message: message?.status == nil ? nil : message, number: number)
    if try add(revisit, to: &output) { return }
    if revisits.count < Self.mostRevisits { return revisits.append(revisit) }
    output.note("\(place(number)): \(record.target ?? ""): the recording has no body for it")
  }

  private mutating func request(
    _ record: WARCRecord, end: Int64, to output: inout RecordingOutput
  ) throws(CacheError) {
    let message = record.isHTTP ?? true ? try HTTPMessageHead(&input, length: record.length) : nil
    try finish(end)
    guard let message, message.method != nil else { return }
    if let response = pairs.add(request: message, id: record["warc-record-id"], to: record.concurrents) {
      try add(response, &output)
    }
  }
}

extension WARCImport {
  /// Adds the documents of an ARC file. A line that is no header ends reading with a note: nothing in the format marks
  /// the start of the next document.
  ///
  /// - Returns: the number of records that are sound.
  mutating func arcRecords(_ output: inout RecordingOutput) throws(CacheError) -> Int {
    var sound = 0
    while true {
      try input.skipLineEnds()
      if input.damage == nil, try input.isAtEnd() { break }
      number += 1
      do throws(CacheError) {
        guard let line = try input.line(limit: ARCHeader.longest), let header = ARCHeader(line) else {
          throw CacheError(.damaged, "not the header of a document")
        }
        try document(header, to: &output)
        sound += 1
      } catch {
        guard error.code == .damaged else { throw error }
        try output.archive.discardBody()
        output.note("\(place(number)): \(input.damage ?? error.message): it and what follows is left out")
        break
      }
    }
    try end(&output)
    return sound
  }

  private mutating func document(_ header: ARCHeader, to output: inout RecordingOutput) throws(CacheError) {
    let end = input.taken + header.length
    if header.url.hasPrefix(ARCHeader.start) { return try skip(to: end) }
    guard let target = header.target,
      let found = try message(to: target, at: header.time, length: header.length, end: end, &output)
    else {
      try skip(to: end)
      return output.note("\(place(number)): not a response to an http or https URL")
    }
    if let objection = found.head.objection ?? found.objection {
      output.note("\(place(number)): \(target): \(objection)")
      return try output.archive.discardBody()
    }
    let response = WARCPairs.Response(head: found.head, body: try output.archive.endBody(), number: number)
    try add(response, &output)
  }
}
