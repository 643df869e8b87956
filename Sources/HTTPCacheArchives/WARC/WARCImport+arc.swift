import HTTPCacheStore

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
      known.number += 1
      do throws(CacheError) {
        guard let line = try input.line(limit: ARCHeader.longest), let header = ARCHeader(line) else {
          throw CacheError(.damaged, "not the header of a document")
        }
        try document(header, to: &output)
        sound += 1
      } catch {
        guard error.code == .damaged else { throw error }
        try leaveOut(error, "it and what follows is left out", &output)
        break
      }
    }
    return sound
  }

  private mutating func document(_ header: ARCHeader, to output: inout RecordingOutput) throws(CacheError) {
    let end = input.taken + header.length
    do throws(CacheError) { try block(of: header, end: end, to: &output) } catch {
      guard error.code == .damaged else { throw error }
      // The header says where the document ends, also if the message in it is damaged.
      try skip(to: end)
      try leaveOut(error, "left out", &output)
    }
  }

  /// Reads the block of a document, up to its end.
  private mutating func block(
    of header: ARCHeader, end: Int64, to output: inout RecordingOutput
  ) throws(CacheError) {
    let place = self.place
    if header.url.hasPrefix(ARCHeader.start) { return try skip(to: end) }
    guard let target = header.target else {
      try skip(to: end)
      return output.note("\(place): not an http or https URL: \(header.url.prefix(200))")
    }
    guard let found = try message(to: target, at: header.time, end: end, &output) else {
      try skip(to: end)
      return output.note("\(place): \(target): not an HTTP response")
    }
    if let objection = found.head.objection ?? found.objection {
      output.note("\(place): \(target): \(objection)")
      return try output.archive.discardBody()
    }
    let body = try output.archive.endBody()
    try output.add(
      WARCPairs.Response(head: found.head, body: body, number: known.number, place: place))
  }
}
