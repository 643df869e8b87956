import HTTPCacheFiles
import HTTPCacheStore

/// The bytes of a WARC file, decompressed if need be, with a way past damaged parts.
struct WARCInput: ~Copyable {
  private var reader: FileReader
  /// Whether the file is compressed with gzip, normally a member for each record.
  let isCompressed: Bool
  private var member: DeflateDecoder?
  private var buffer: [UInt8] = []
  private var next = 0
  /// The number of bytes that were taken.
  private(set) var taken: Int64 = 0
  /// The place in the file of the start of the current record, for resuming behind it.
  private(set) var recordStart: Int64 = 0
  /// The place of the current record in the bytes that its member was decoded to.
  private var recordOffset: Int64 = 0
  private var memberStart: Int64 = 0
  /// The bytes that the current member was decoded to.
  private var memberLength: Int64 = 0
  private var limit: UnpackedLimit
  /// Bounds the bytes that are decoded again for resuming in a member.
  private var againLimit: UnpackedLimit
  /// Why reading stopped before the end of the file; nil if it did not.
  private(set) var damage: String?

  /// - Throws: `CacheError.io`.
  init(_ file: CacheFile) throws(CacheError) {
    var reader = try FileReader(file)
    let isCompressed = try reader.peek() == 0x1F
    limit = UnpackedLimit(length: reader.length)
    againLimit = UnpackedLimit(length: reader.length)
    self.reader = reader
    self.isCompressed = isCompressed
  }

  /// Tries to have some bytes ready.
  ///
  /// - Returns: whether there are as many.
  /// - Throws: `CacheError.tooLarge` if the file unpacks to too much, `CacheError.io`.
  private mutating func have(_ count: Int) throws(CacheError) -> Bool {
    while buffer.count - next < count {
      let more = isCompressed ? try inflated() : Array(try reader.run { _ in true })
      if more.isEmpty { return false }
      buffer.removeSubrange(..<next)
      next = 0
      buffer.append(contentsOf: more)
    }
    return true
  }

  private mutating func inflated() throws(CacheError) -> [UInt8] {
    while damage == nil {
      if member == nil {
        guard try reader.peek() != nil else { return [] }
        (memberStart, memberLength) = (reader.position, 0)
        do { member = try DeflateDecoder() } catch { throw CacheError(.io, "no memory to decompress") }
      }
      let start = reader.position
      let input = try reader.run { _ in true }
      var rest = BodyBytes(input)
      guard !input.isEmpty, let output = try? member?.decode(&rest) else {
        damage = input.isEmpty ? "the file was cut" : "damaged gzip data"
        member = nil
        return []
      }
      if !rest.isEmpty { reader.seek(to: start + Int64(input.count - rest.count)) }
      if member?.isEnded ?? true { member = nil }
      try limit.take(Int64(output.count), of: "the recording")
      memberLength += Int64(output.count)
      let most = UnpackedLimit.part(length: reader.position - memberStart)
      guard memberLength <= most else {
        damage = "a gzip member unpacks to more than \(most) bytes"
        member = nil
        return []
      }
      if !output.isEmpty { return output.array }
      if rest.count == input.count {
        damage = "damaged gzip data"
        member = nil
      }
    }
    return []
  }

  /// Whether there are no more bytes.
  mutating func isAtEnd() throws(CacheError) -> Bool { try !have(1) }

  /// Marks the start of a record.
  mutating func beginRecord() throws(CacheError) {
    _ = try have(1)
    recordStart = isCompressed ? memberStart : reader.position - Int64(buffer.count - next)
    recordOffset = memberOffset
  }

  /// The place of the next byte in the bytes that its member was decoded to; below 0 if a later member was begun.
  private var memberOffset: Int64 { memberLength - Int64(buffer.count - next) }

  /// Whether the next bytes are these.
  mutating func comes(_ bytes: some Collection<UInt8>) throws(CacheError) -> Bool {
    try have(bytes.count) && buffer[next...].starts(with: bytes)
  }

  /// Whether the next bytes begin a record.
  mutating func beginsRecord() throws(CacheError) -> Bool { WARCRecord.begins(try ahead(5)) }

  /// The next bytes, which stay the next; fewer at the end.
  mutating func ahead(_ count: Int) throws(CacheError) -> ArraySlice<UInt8> {
    _ = try have(count)
    return buffer[next...].prefix(count)
  }

  /// Takes the line ends after a record.
  mutating func skipLineEnds() throws(CacheError) {
    while try have(1), buffer[next] == 0x0D || buffer[next] == 0x0A {
      next += 1
      taken += 1
    }
  }

  /// Takes a line without its end; nil if it is longer than `limit` or the input ends before.
  mutating func line(limit: Int) throws(CacheError) -> [UInt8]? {
    var seen = 0
    while true {
      if let end = buffer[(next + seen)...].firstIndex(of: 0x0A) {
        guard end - next <= limit else { return nil }
        let line = buffer[next..<end]
        taken += Int64(line.count + 1)
        next = end + 1
        return Array(line.last == 0x0D ? line.dropLast() : line)
      }
      seen = buffer.count - next
      guard seen <= limit, try have(seen + 1) else { return nil }
    }
  }

  /// Takes up to `count` bytes; empty at the end.
  mutating func take(upTo count: Int64) throws(CacheError) -> ArraySlice<UInt8> {
    guard count > 0, try have(1) else { return [] }
    let piece = buffer[next..<next + Int(min(count, Int64(buffer.count - next)))]
    next = piece.endIndex
    taken += Int64(piece.count)
    return piece
  }

  /// Continues with the next record that begins after the start of the current one.
  ///
  /// - Returns: false if there is none.
  /// - Throws: `CacheError.tooLarge` if the file unpacks to too much, `CacheError.io`.
  mutating func resume() throws(CacheError) -> Bool {
    let isInMember = isCompressed && damage == nil && memberStart == recordStart
    let length = memberLength
    // A record with a member of its own ends with the member: a line in its body that looks like a record is not one.
    if isInMember, recordOffset > 0, try resumeInMember(length) { return true }
    forget()
    reader.seek(to: recordStart + 1)
    guard isCompressed else { return try resumePlain() }
    if try resumeCompressed() { return true }
    // No other member begins with a record: the first member is the whole file.
    guard isInMember, recordStart == 0, recordOffset == 0 else { return false }
    return try resumeInMember(length)
  }

  private mutating func forget() {
    (buffer, next, damage) = ([], 0, nil)
    member = nil
  }

  private mutating func resumePlain() throws(CacheError) -> Bool {
    while true {
      while try !reader.run(while: { $0 != 0x0A }).isEmpty {}
      guard try reader.byte() != nil else { return false }
      let start = reader.position
      var isRecord = true
      for byte in "warc/".utf8 where isRecord { isRecord = try reader.byte().map { $0 | 0x20 } == byte }
      reader.seek(to: start)
      if isRecord { return true }
    }
  }

  /// Looks in the member of the current record for a line that begins a record.
  ///
  /// - Parameter length: the bytes that the member was decoded to.
  private mutating func resumeInMember(_ length: Int64) throws(CacheError) -> Bool {
    // The broken record may have reached into the next ones, so the member is decoded again. That takes quadratic time
    // for many broken records: beyond the limit the search goes on where reading stopped.
    if againLimit.takes(length) {
      limit.giveBack(length)
      forget()
      reader.seek(to: recordStart)
      var rest = recordOffset + 1
      while rest > 0 {
        let count = try take(upTo: rest).count
        if count == 0 { return false }
        rest -= Int64(count)
      }
    } else if memberOffset > recordOffset, next > 0, buffer[next - 1] == 0x0A, try beginsRecord() {
      return true
    }
    while try have(1), memberStart == recordStart {
      let line = buffer[next...].firstIndex(of: 0x0A)
      let end = line.map { $0 + 1 } ?? buffer.count
      taken += Int64(end - next)
      next = end
      if line != nil, try beginsRecord() { return true }
    }
    return false
  }

  /// Looks for a member that begins with a record: other places may have the three bytes by chance.
  private mutating func resumeCompressed() throws(CacheError) -> Bool {
    while true {
      while try !reader.run(while: { $0 != 0x1F }).isEmpty {}
      let start = reader.position
      guard try reader.byte() != nil else { return false }
      guard try reader.byte() == 0x8B, try reader.byte() == 0x08 else {
        reader.seek(to: start + 1)
        continue
      }
      reader.seek(to: start)
      if try beginsRecord() { return true }
      forget()
      reader.seek(to: start + 1)
    }
  }
}
