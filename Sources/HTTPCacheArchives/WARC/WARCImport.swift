import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Makes seeds of the records of a WARC file: `response`, `resource`, and `revisit` of a response with equal content;
/// and of those of an ARC file. A damaged record is left out with a note, and reading goes on with the next one.
struct WARCImport: ~Copyable {
  var input: WARCInput
  var known = KnownRecords()
  /// Comes before the numbers of records in notes: the name of the part of a WACZ file.
  private let part: String
  /// The place of the record that was left out last, and why.
  private var problem: String?

  private init(input: consuming WARCInput, part: String) {
    self.input = input
    self.part = part
  }

  /// Adds the responses of a WARC file or an ARC file.
  ///
  /// - Throws: `CacheError.damaged` if the file has no whole record, `CacheError.tooLarge` if it unpacks to too much,
  ///   `CacheError.io`, `CacheError.noSpace`.
  static func run(_ file: CacheFile, name: String, into output: inout RecordingOutput) throws(CacheError) {
    var known = KnownRecords()
    try run(file, name: name, part: "", with: &known, into: &output)
    try known.end(&output)
  }

  /// Adds the responses of one of several WARC files or ARC files. `KnownRecords.end` adds the rest after the last one.
  ///
  /// - Parameters:
  ///   - part: comes before the numbers of records in notes.
  ///   - known: the records of all files before this one.
  /// - Throws: as `run(_:name:into:)`.
  static func run(
    _ file: CacheFile, name: String, part: String, with known: inout KnownRecords,
    into output: inout RecordingOutput
  ) throws(CacheError) {
    var reading = WARCImport(input: try WARCInput(file), part: part)
    // Swapped instead of copied: the first change of a copy would copy the names of all records.
    swap(&known, &reading.known)
    do throws(CacheError) {
      try reading.all(name, &output)
    } catch {
      swap(&known, &reading.known)
      throw error
    }
    swap(&known, &reading.known)
  }

  private mutating func all(_ name: String, _ output: inout RecordingOutput) throws(CacheError) {
    let isARC = try input.comes(ARCHeader.start.utf8)
    let isWARC = try input.beginsRecord()
    let damage = input.damage
    let sound = isARC ? try arcRecords(&output) : try records(&output)
    guard sound == 0 else { return }
    if isARC || isWARC {
      throw CacheError(.damaged, "\(name) has no whole record" + (problem.map { " (\($0))" } ?? ""))
    }
    guard input.isCompressed else { throw CacheError(.damaged, "\(name) is not a WARC file") }
    if let damage { throw CacheError(.damaged, "\(name) is compressed with gzip: \(damage)") }
    throw CacheError(
      .damaged, "\(name) is compressed with gzip, and is neither a WARC, an ARC nor a HAR file")
  }

  /// The place of the current record, for notes.
  var place: String { "\(part)record \(known.number)" }

  /// The number of records that are sound.
  private mutating func records(_ output: inout RecordingOutput) throws(CacheError) -> Int {
    var sound = 0
    while true {
      // Some recorders write more line ends behind a record than the two of the format.
      try input.skipLineEnds()
      try input.beginRecord()
      if input.damage == nil, try input.isAtEnd() { break }
      known.number += 1
      do throws(CacheError) {
        try record(&output)
        sound += 1
      } catch {
        guard error.code == .damaged else { throw error }
        try leaveOut(error, "left out", &output)
        guard try input.resume() else { break }
      }
    }
    return sound
  }

  /// Forgets the body of the current record, and notes why.
  mutating func leaveOut(
    _ error: CacheError, _ consequence: String, _ output: inout RecordingOutput
  ) throws(CacheError) {
    try output.archive.discardBody()
    let problem = "\(place): \(input.damage ?? error.message)"
    output.note("\(problem): \(consequence)")
    self.problem = problem
  }

  private mutating func record(_ output: inout RecordingOutput) throws(CacheError) {
    guard let record = try WARCRecord(&input) else {
      throw CacheError(.damaged, "not the header of a record")
    }
    let end = input.taken + record.length
    do throws(CacheError) { try block(of: record, end: end, to: &output) } catch {
      guard error.code == .damaged else { throw error }
      // The block has as many octets as the header says (WARC 1.1 §4), also if the message in it is damaged: a line in it
      // that looks like a record is not one. The length is wrong only if no record ends there.
      try finish(end)
      try leaveOut(error, "left out", &output)
    }
  }

  /// Reads the block of a record, up to the end of the record.
  private mutating func block(
    of record: WARCRecord, end: Int64, to output: inout RecordingOutput
  ) throws(CacheError) {
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
    guard try input.beginsRecord() else {
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

  /// Why a record does not have a whole body, whatever its block says; nil if it may have one.
  private static func objection(to record: WARCRecord) -> String? {
    if record["warc-segment-number"] != nil { return "in several records" }
    return record["warc-truncated"].map { "cut when it was recorded (\($0))" }
  }

  private mutating func response(
    _ record: WARCRecord, end: Int64, to output: inout RecordingOutput
  ) throws(CacheError) {
    guard let target = record.target else {
      try finish(end)
      return output.note(
        "\(place): not an http or https URL: \(record["warc-target-uri"]?.prefix(200) ?? "")")
    }
    guard let found = try message(to: target, at: record.time ?? 0, end: end, &output) else {
      try finish(end)
      return output.note("\(place): \(target): not an HTTP response")
    }
    try finish(end)
    if let objection = found.head.objection ?? Self.objection(to: record) ?? found.objection {
      output.note("\(place): \(target): \(objection)")
      return try output.archive.discardBody()
    }
    try keep(found.head, of: record, to: &output)
  }

  /// Keeps a response with the body that was copied.
  private mutating func keep(
    _ head: RecordedHead, of record: WARCRecord, to output: inout RecordingOutput
  ) throws(CacheError) {
    let body = try output.archive.endBody()
    let response = WARCPairs.Response(head: head, body: body, number: known.number, place: place)
    try known.keep(response, of: record, to: &output)
  }

  /// Reads the head of the response in a block. Interim responses come before the final one (RFC 9110 §15.2); some
  /// recorders keep them.
  ///
  /// - Parameter end: the end of the block.
  /// - Returns: nil if the block has no head.
  private mutating func finalHead(before end: Int64) throws(CacheError) -> HTTPMessageHead? {
    guard var message = try HTTPMessageHead(&input, length: end - input.taken) else { return nil }
    while let status = message.status, (100..<200).contains(status), status != 101 {
      guard let next = try HTTPMessageHead(&input, length: end - input.taken) else { break }
      message = next
    }
    return message
  }

  /// Reads the HTTP response of a block, and copies its body.
  ///
  /// - Parameter end: the end of the block.
  /// - Returns: its head, and why its body is not whole; nil if the block is no HTTP response.
  mutating func message(
    to target: String, at time: Int64, end: Int64, _ output: inout RecordingOutput
  ) throws(CacheError) -> (head: RecordedHead, objection: String?)? {
    guard let message = try finalHead(before: end), let status = message.status else { return nil }
    var head = RecordedHead(
      target: target, status: status, fields: message.fields, request: nil, times: (time, time))
    var body = WARCBody(message.fields)
    let isEmpty = input.taken == end
    // The first piece has the bytes that tell a content coding: the buffer may have ended behind the head.
    _ = try input.ahead(Int(min(Int64(WARCBody.startLength), end - input.taken)))
    while input.taken < end {
      let piece = try input.take(upTo: end - input.taken)
      guard !piece.isEmpty else { throw CacheError(.damaged, "the record was cut") }
      try body.append(piece, to: &output)
    }
    head.isDecoded = body.isDecoded
    // Clients follow a redirect without its body (RFC 9110 §15.4).
    let isRedirect = (300..<400).contains(status) && message.fields.contains(.location)
    return (head, isRedirect && isEmpty ? nil : body.objection)
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
    if let objection = Self.objection(to: record) {
      output.note("\(place): \(target): \(objection)")
      return try output.archive.discardBody()
    }
    let head = RecordedHead(
      target: target, status: 200, fields: HTTPField.isValidValue(type) ? [.contentType: type] : [:],
      request: nil, times: (record.time ?? 0, record.time ?? 0))
    try keep(head, of: record, to: &output)
  }

  private mutating func revisit(
    _ record: WARCRecord, end: Int64, to output: inout RecordingOutput
  ) throws(CacheError) {
    let message = record.length > 0 ? try finalHead(before: end) : nil
    try finish(end)
    // The recording has the earlier response.
    if record.isConfirmation || message?.status == 304 { return }
    let revisit = KnownRecords.Revisit(
      record: record, message: message?.status == nil ? nil : message, number: known.number, place: place)
    try known.add(revisit, to: &output)
  }

  private mutating func request(
    _ record: WARCRecord, end: Int64, to output: inout RecordingOutput
  ) throws(CacheError) {
    let message = record.isHTTP ?? true ? try HTTPMessageHead(&input, length: record.length) : nil
    try finish(end)
    guard let message, message.method != nil else { return }
    try known.add(request: message, of: record, to: &output)
  }
}
