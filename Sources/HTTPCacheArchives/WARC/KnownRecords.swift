import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The records of a recording that later records may name, in all of its WARC files: bodies and heads for revisits,
/// revisits that wait for a later record, and responses that wait for their requests.
struct KnownRecords {
  /// A body, and the number of the record that has it.
  private struct KnownBody {
    let body: ArchiveOutput.Body
    let number: Int
  }

  /// A revisit of a record that may come later.
  struct Revisit {
    let record: WARCRecord
    let message: HTTPMessageHead?
    let number: Int
    /// The place of its record, for notes.
    let place: String
  }

  /// Revisits that wait for a later record; more are left out.
  private static let mostRevisits = 10_000
  /// The bytes of heads that are kept for revisits without a head of their own.
  private static let mostHeadBytes = 16 << 20

  /// The number of the last record.
  var number = 0
  private var pairs = WARCPairs()
  private var bodies: [NameHash: KnownBody] = [:]
  private var heads: [Int: RecordedHead] = [:]
  private var headBytes = 0
  private var revisits: [Revisit] = []

  /// Knows nothing.
  init() {}

  /// Keeps a response until its request has come, and its body for revisits.
  ///
  /// - Throws: what adding a response throws.
  mutating func keep(
    _ response: WARCPairs.Response, of record: WARCRecord, to output: inout RecordingOutput
  ) throws(CacheError) {
    let names = [
      record["warc-record-id"], record["warc-payload-digest"], Self.name(of: record, isOrigin: false),
    ]
    for case let name? in names {
      bodies[NameHash(name)] = KnownBody(body: response.body, number: response.number)
    }
    let head = response.head
    let length = head.fields.reduce(head.target.utf8.count) {
      $0 + $1.name.rawName.utf8.count + $1.value.utf8.count
    }
    if headBytes + length <= Self.mostHeadBytes {
      heads[response.number] = head
      headBytes += length
    }
    if let complete = pairs.add(response: response, id: record["warc-record-id"], to: record.concurrents) {
      try output.add(complete)
    }
  }

  /// Adds the request of a response that came, or keeps it for one that comes.
  ///
  /// - Throws: what adding a response throws.
  mutating func add(
    request: HTTPMessageHead, of record: WARCRecord, to output: inout RecordingOutput
  ) throws(CacheError) {
    if let response = pairs.add(request: request, id: record["warc-record-id"], to: record.concurrents) {
      try output.add(response)
    }
  }

  /// Adds a revisit, or keeps it until all records have come.
  ///
  /// - Throws: what adding a response throws.
  mutating func add(_ revisit: Revisit, to output: inout RecordingOutput) throws(CacheError) {
    if try resolve(revisit, to: &output) { return }
    if revisits.count < Self.mostRevisits { return revisits.append(revisit) }
    Self.noteNoBody(of: revisit, to: &output)
  }

  /// Adds the revisits and responses that wait, after the last file: a WACZ file may have the body of a revisit in any of
  /// its WARC files.
  ///
  /// - Throws: what adding a response throws.
  mutating func end(_ output: inout RecordingOutput) throws(CacheError) {
    let waiting = revisits
    revisits = []
    for revisit in waiting where try !resolve(revisit, to: &output) {
      Self.noteNoBody(of: revisit, to: &output)
    }
    for response in pairs.rest() { try output.add(response) }
  }

  private static func noteNoBody(of revisit: Revisit, to output: inout RecordingOutput) {
    output.note("\(revisit.place): \(revisit.record.target ?? ""): the recording has no body for it")
  }

  /// Adds a revisit as a response with the body of the record that it names. Without a head of its own (a revisit need
  /// have no block, WARC 1.1 §6.7) it has the head of that record.
  ///
  /// - Returns: false if no record before has the body.
  private mutating func resolve(
    _ revisit: Revisit, to output: inout RecordingOutput
  ) throws(CacheError) -> Bool {
    let record = revisit.record
    guard let target = record.target else { return true }
    let names = [
      record["warc-refers-to"], record["warc-payload-digest"], Self.name(of: record, isOrigin: true),
    ]
    var found: KnownBody?
    for case let name? in names where found == nil { found = bodies[NameHash(name)] }
    guard let known = found else { return false }
    let time = record.time ?? 0
    var head: RecordedHead
    if let message = revisit.message, let status = message.status {
      head = RecordedHead(
        target: target, status: status, fields: message.fields, request: nil, times: (time, time),
        isDecoded: heads[known.number]?.isDecoded ?? false)
    } else if let earlier = heads[known.number] {
      head = earlier
      (head.target, head.times) = (target, (time, time))
    } else {
      return false
    }
    if let objection = head.objection {
      output.note("\(revisit.place): \(target): \(objection)")
      return true
    }
    try keep(
      WARCPairs.Response(head: head, body: known.body, number: revisit.number, place: revisit.place),
      of: record, to: &output)
    return true
  }

  /// The name of a record by URI and time, which a revisit may have instead of an identifier.
  private static func name(of record: WARCRecord, isOrigin: Bool) -> String? {
    let prefix = isOrigin ? "warc-refers-to-" : "warc-"
    guard let target = record[prefix + "target-uri"], let date = record[prefix + "date"] else { return nil }
    return "\(date) \(target)"
  }
}

extension RecordingOutput {
  /// Adds a response that does not wait for its request any more.
  ///
  /// - Throws: `CacheError.tooLarge` if the bodies are too long together, `CacheError.io`, `CacheError.noSpace`.
  mutating func add(_ response: WARCPairs.Response) throws(CacheError) {
    let target = response.head.target
    if let method = response.method, method != "GET" {
      return note("\(response.place): \(target): a response to \(method.prefix(20))")
    }
    if let objection = response.head.objection {
      return note("\(response.place): \(target): \(objection)")
    }
    try add(response.head, body: response.body, order: response.number, place: response.place)
  }
}
