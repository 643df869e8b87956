import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension WARCImport {
  /// Keeps a response until its request has come, and its body for revisits.
  ///
  /// - Parameter number: the number of its record.
  mutating func keep(
    _ head: RecordedHead, body: ArchiveOutput.Body, of record: WARCRecord, _ number: Int,
    to output: inout RecordingOutput
  ) throws(CacheError) {
    let names = [
      record["warc-record-id"], record["warc-payload-digest"], Self.name(of: record, isOrigin: false),
    ]
    for case let name? in names { bodies[NameHash(name)] = KnownBody(body: body, number: number) }
    let length = head.fields.reduce(head.target.utf8.count) {
      $0 + $1.name.rawName.utf8.count + $1.value.utf8.count
    }
    if headBytes + length <= Self.mostHeadBytes {
      heads[number] = head
      headBytes += length
    }
    let response = WARCPairs.Response(head: head, body: body, number: number)
    if let complete = pairs.add(response: response, id: record["warc-record-id"], to: record.concurrents) {
      try add(complete, &output)
    }
  }

  /// Adds a revisit as a response with the body of the record that it names. Without a head of its own (a revisit need
  /// have no block, WARC 1.1 §6.7) it has the head of that record.
  ///
  /// - Returns: false if no record before has the body.
  mutating func add(_ revisit: Revisit, to output: inout RecordingOutput) throws(CacheError) -> Bool {
    let record = revisit.record
    guard let target = record.target else { return true }
    let names = [
      record["warc-refers-to"], record["warc-payload-digest"], Self.name(of: record, isOrigin: true),
    ]
    let known = bodies
    guard let found = names.compactMap({ $0.flatMap { known[NameHash($0)] } }).first else { return false }
    let time = record.time ?? 0
    var head: RecordedHead
    if let message = revisit.message, let status = message.status {
      head = RecordedHead(
        target: target, status: status, fields: message.fields, request: nil, times: (time, time),
        isDecoded: heads[found.number]?.isDecoded ?? false)
    } else if let earlier = heads[found.number] {
      head = earlier
      (head.target, head.times) = (target, (time, time))
    } else {
      return false
    }
    if let objection = head.objection {
      output.note("\(place(revisit.number)): \(target): \(objection)")
      return true
    }
    try keep(head, body: found.body, of: record, revisit.number, to: &output)
    return true
  }

  /// The name of a record by URI and time, which a revisit may have instead of an identifier.
  private static func name(of record: WARCRecord, isOrigin: Bool) -> String? {
    let prefix = isOrigin ? "warc-refers-to-" : "warc-"
    guard let target = record[prefix + "target-uri"], let date = record[prefix + "date"] else { return nil }
    return "\(date) \(target)"
  }

  /// Adds a response that does not wait for its request any more.
  mutating func add(_ response: WARCPairs.Response, _ output: inout RecordingOutput) throws(CacheError) {
    let place = place(response.number)
    if let method = response.method, method != "GET" {
      return output.note("\(place): \(response.head.target): a response to \(method.prefix(20))")
    }
    if let objection = response.head.objection {
      return output.note("\(place): \(response.head.target): \(objection)")
    }
    try output.add(response.head, body: response.body, order: response.number, place: place)
  }
}
