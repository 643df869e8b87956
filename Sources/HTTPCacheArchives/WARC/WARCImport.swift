import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Makes seeds of the records of a WARC file: `response`, `resource`, and `revisit` of a response with equal content.
/// A damaged record is left out with a note, and reading goes on with the next one.
struct WARCImport: ~Copyable {
  private var input: WARCInput
  private var number = 0
  private var pairs = WARCPairs()
  private var bodies: [NameHash: ArchiveOutput.Body] = [:]

  private init(input: consuming WARCInput) { self.input = input }

  /// Adds the responses of a WARC file.
  ///
  /// - Throws: `CacheError.damaged` if the file has no record at all, `CacheError.tooLarge` if it unpacks to too much,
  ///   `CacheError.io`, `CacheError.noSpace`.
  static func run(_ file: CacheFile, name: String, into output: inout RecordingOutput) throws(CacheError) {
    var reading = WARCImport(input: try WARCInput(file))
    guard try reading.records(&output) > 0 else { throw CacheError(.damaged, "\(name) is not a WARC file") }
  }

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
        output.note("record \(number): \(input.damage ?? error.message): left out")
        guard try input.resume() else { break }
      }
    }
    for response in pairs.rest() { try add(response, &output) }
    return sound
  }

  private mutating func record(_ output: inout RecordingOutput) throws(CacheError) {
    guard let record = try WARCRecord(&input) else {
      throw CacheError(.damaged, "not the header of a record")
    }
    let end = input.taken + record.length
    switch record.type {
    case "response" where record.isHTTP: try response(record, end: end, to: &output)
    case "response", "resource": try resource(record, end: end, to: &output)
    case "revisit": try revisit(record, end: end, to: &output)
    case "request": try request(record, end: end, to: &output)
    default: try finish(end)
    }
  }

  /// Goes to the end of the record, and checks that it ends there: otherwise its length is wrong.
  private mutating func finish(_ end: Int64) throws(CacheError) {
    while input.taken < end {
      guard try !input.take(upTo: end - input.taken).isEmpty else {
        throw CacheError(.damaged, "the record was cut")
      }
    }
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

  private mutating func response(
    _ record: WARCRecord, end: Int64, to output: inout RecordingOutput
  ) throws(CacheError) {
    guard let message = try HTTPMessageHead(&input, length: record.length), let status = message.status,
      let target = record.target
    else {
      try finish(end)
      return output.note("record \(number): not a response to an http or https URL")
    }
    let time = record.time ?? 0
    let head = RecordedHead(
      target: target, status: status, fields: message.fields, request: nil, times: (time, time))
    var body = WARCBody(message.fields)
    while input.taken < end {
      let piece = try input.take(upTo: end - input.taken)
      guard !piece.isEmpty else { throw CacheError(.damaged, "the record was cut") }
      try body.append(piece, to: &output)
    }
    try finish(end)
    let objection = record["warc-truncated"].map { "cut when it was recorded (\($0))" } ?? body.objection
    if let objection = head.objection ?? objection {
      output.note("record \(number): \(target): \(objection)")
      return try output.archive.discardBody()
    }
    try keep(head, body: try output.archive.endBody(), of: record, to: &output)
  }

  private mutating func resource(
    _ record: WARCRecord, end: Int64, to output: inout RecordingOutput
  ) throws(CacheError) {
    guard let target = record.target else { return try finish(end) }
    while input.taken < end {
      let piece = try input.take(upTo: end - input.taken)
      guard !piece.isEmpty else { throw CacheError(.damaged, "the record was cut") }
      try output.archive.append(BodyBytes(piece))
    }
    try finish(end)
    let type = record["content-type"] ?? "application/octet-stream"
    let head = RecordedHead(
      target: target, status: 200, fields: HTTPField.isValidValue(type) ? [.contentType: type] : [:],
      request: nil, times: (record.time ?? 0, record.time ?? 0))
    try keep(head, body: try output.archive.endBody(), of: record, to: &output)
  }

  private mutating func revisit(
    _ record: WARCRecord, end: Int64, to output: inout RecordingOutput
  ) throws(CacheError) {
    let message = record.length > 0 ? try HTTPMessageHead(&input, length: record.length) : nil
    try finish(end)
    // The recording has the earlier response.
    guard let target = record.target, let message, let status = message.status, status != 304 else { return }
    let names = [
      record["warc-refers-to"], record["warc-payload-digest"], Self.name(of: record, isOrigin: true),
    ]
    let known = bodies
    guard let body = names.compactMap({ $0.flatMap { known[NameHash($0)] } }).first else {
      return output.note("record \(number): \(target): the recording has no body for it")
    }
    let time = record.time ?? 0
    let head = RecordedHead(
      target: target, status: status, fields: message.fields, request: nil, times: (time, time))
    if let objection = head.objection { return output.note("record \(number): \(target): \(objection)") }
    try keep(head, body: body, of: record, to: &output)
  }

  private mutating func request(
    _ record: WARCRecord, end: Int64, to output: inout RecordingOutput
  ) throws(CacheError) {
    let message = record.isHTTP ? try HTTPMessageHead(&input, length: record.length) : nil
    try finish(end)
    guard let message else { return }
    if let response = pairs.add(
      request: message, id: record["warc-record-id"], to: record["warc-concurrent-to"])
    {
      try add(response, &output)
    }
  }

  private mutating func keep(
    _ head: RecordedHead, body: ArchiveOutput.Body, of record: WARCRecord, to output: inout RecordingOutput
  ) throws(CacheError) {
    let names = [
      record["warc-record-id"], record["warc-payload-digest"], Self.name(of: record, isOrigin: false),
    ]
    for case let name? in names { bodies[NameHash(name)] = body }
    let response = WARCPairs.Response(head: head, body: body, number: number)
    if let complete = pairs.add(
      response: response, id: record["warc-record-id"], to: record["warc-concurrent-to"])
    {
      try add(complete, &output)
    }
  }

  /// The name of a record by URI and time, which a revisit may have instead of an identifier.
  private static func name(of record: WARCRecord, isOrigin: Bool) -> String? {
    let prefix = isOrigin ? "warc-refers-to-" : "warc-"
    guard let target = record[prefix + "target-uri"], let date = record[prefix + "date"] else { return nil }
    return "\(date) \(target)"
  }

  private func add(_ response: WARCPairs.Response, _ output: inout RecordingOutput) throws(CacheError) {
    let place = "record \(response.number)"
    if let method = response.method, method != "GET" {
      return output.note("\(place): \(response.head.target): a response to \(method.prefix(20))")
    }
    if let objection = response.head.objection {
      return output.note("\(place): \(response.head.target): \(objection)")
    }
    try output.add(response.head, body: response.body, place: place)
  }
}
