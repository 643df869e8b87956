import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching

/// A download in the encoding of the list: numbers and texts as in the cache's records (`BinaryWriter`), each
/// length bounded before anything is allocated.
enum DownloadRecord {
  /// The longest record in bytes.
  static let longest = 1 << 20
  private static let version: UInt8 = 1
  /// Request fields that never reach the disk.
  private static let secrets: Set<String> = ["authorization", "proxy-authorization", "cookie"]

  /// - Returns: nil for a download whose record would be too long, or has too many fields.
  static func encode(_ item: DownloadItem) -> [UInt8]? {
    guard item.download.request.headerFields.count <= HTTPFields.countLimit else { return nil }
    var writer = BinaryWriter()
    writer.byte(version)
    writer.fixed(item.id.rawValue)
    writer.signed(item.position)
    encode(item.download, to: &writer)
    encode(item.state, to: &writer)
    for number in [item.received, item.furthest] { writer.signed(number) }
    writer.optionalSigned(item.expected)
    for text in [item.validators.eTag, item.validators.lastModified] { writer.optionalText(text) }
    for number in [item.tries, item.restarts, item.changes] { writer.signed(Int64(number)) }
    writer.optionalText(item.lastRestart?.rawValue)
    writer.optionalSigned(item.firstTry?.seconds)
    writer.byte((item.hasBegun ? 1 : 0) | (item.writesDirectly ? 2 : 0) | (item.placed == nil ? 0 : 4))
    if let placed = item.placed {
      writer.fixed(placed.inode)
      for number in [placed.size, placed.seconds, placed.nanoseconds] { writer.signed(number) }
    }
    let mirrors = item.download.mirrors
    writer.byte(
      (item.usesOneStream ? 1 : 0) | (item.download.linksEntry ? 2 : 0) | (mirrors.isEmpty ? 0 : 4))
    if !mirrors.isEmpty {
      writer.count(mirrors.count)
      for mirror in mirrors { writer.text(mirror) }
    }
    return writer.output.count <= longest ? writer.output : nil
  }

  /// - Throws: `CacheError.damaged` for bytes that `encode` did not make.
  static func decode(_ bytes: [UInt8]) throws(CacheError) -> DownloadItem {
    let result = bytes.withUnsafeBytes { buffer -> Result<DownloadItem, CacheError> in
      do throws(CacheError) { return .success(try decode(buffer)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  static func decode(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> DownloadItem {
    var reader = BinaryReader(bytes)
    return try item(&reader)
  }

  private static func item(_ reader: inout BinaryReader) throws(CacheError) -> DownloadItem {
    let version = try reader.byte()
    guard version == Self.version else { throw BinaryReader.damaged("another version") }
    let id = DownloadID(rawValue: try reader.fixed())
    let position = try reader.signed()
    var item = DownloadItem(id: id, download: try download(&reader), position: position)
    item.state = try state(&reader)
    item.received = max(0, try reader.signed())
    item.furthest = max(0, try reader.signed())
    item.expected = try reader.optionalSigned().map { max(0, $0) }
    item.validators = ResponseValidators(
      eTag: try reader.optionalText(), lastModified: try reader.optionalText())
    item.tries = try reader.smallNumber()
    item.restarts = try reader.smallNumber()
    item.changes = try reader.smallNumber()
    item.lastRestart = try reader.optionalText().flatMap { DownloadRestart(rawValue: $0) }
    item.firstTry = try reader.optionalSigned().map { Timestamp(seconds: $0) }
    let flags = try reader.byte()
    item.hasBegun = flags & 1 != 0
    item.writesDirectly = flags & 2 != 0
    if flags & 4 != 0 {
      item.placed = PlacedFile(
        inode: try reader.fixed(), size: try reader.signed(), seconds: try reader.signed(),
        nanoseconds: try reader.signed())
    }
    let way = try reader.byte()
    item.usesOneStream = way & 1 != 0
    if way & 2 != 0 { item.download.linksEntry = true }
    if way & 4 != 0 {
      for _ in 0..<(try reader.count(ofSize: 1)) { item.download.mirrors.append(try reader.text()) }
      guard item.download.mirrors.allSatisfy({ TargetURI.parts(of: $0) != nil }) else {
        throw BinaryReader.damaged("no URL")
      }
    }
    guard reader.remaining == 0 else { throw BinaryReader.damaged("bytes after the end") }
    return item
  }

  private static func encode(_ download: Download, to writer: inout BinaryWriter) {
    writer.text(download.url)
    let fields = download.request.headerFields.filter { !secrets.contains($0.name.canonicalName) }
    writer.count(fields.count)
    for field in fields {
      writer.text(field.name.rawName)
      writer.text(field.value)
    }
    writer.optionalText(download.destination)
    writer.byte(download.replacesExisting ? 1 : 0)
    writer.signed(Int64(download.priority))
    writer.count(download.digests.count)
    for digest in download.digests {
      writer.text(digest.algorithm.rawValue)
      writer.bytes(digest.value)
    }
    writer.text(download.group)
    writer.byte(UInt8(clamping: download.segments))
  }

  private static func download(_ reader: inout BinaryReader) throws(CacheError) -> Download {
    let url = try reader.text()
    guard let parts = TargetURI.parts(of: url) else { throw BinaryReader.damaged("no URL") }
    var request = HTTPRequest(
      method: .get, scheme: parts.scheme, authority: parts.authority, path: parts.path)
    for _ in 0..<(try reader.count(ofSize: 2)) {
      let (name, value) = (try reader.text(), try reader.text())
      guard let name = HTTPField.Name(name),
        request.headerFields.appendBounded(HTTPField(name: name, value: value))
      else { throw BinaryReader.damaged("no field name, or too many fields") }
    }
    let destination = try reader.optionalText()
    if let destination, !DestinationFile.isValid(destination) {
      throw BinaryReader.damaged("no destination")
    }
    let replacesExisting = try reader.byte() == 1
    let priority = Int(clamping: try reader.signed())
    var digests: [IntegrityDigest] = []
    for _ in 0..<(try reader.count(ofSize: 2)) {
      guard let algorithm = IntegrityDigest.Algorithm(rawValue: try reader.text()) else {
        throw BinaryReader.damaged("unknown digest")
      }
      digests.append(IntegrityDigest(algorithm: algorithm, value: try reader.bytes()))
    }
    var download = Download(
      request: request, to: destination, replacesExisting: replacesExisting, priority: priority,
      digests: digests, group: try reader.text())
    download.segments = Int(try reader.byte())
    return download
  }

  // A running download is one that waits: its attempt ended with the process.
  private static func encode(_ state: DownloadState, to writer: inout BinaryWriter) {
    switch state {
    case .waiting(.slot), .waiting(.network), .validating, .receiving, .verifying: writer.byte(0)
    case .waiting(.retry(let time, let failure)):
      writer.byte(1)
      writer.signed(time.seconds)
      encode(failure, to: &writer)
    case .done(let source):
      writer.byte(2)
      writer.text(source.rawValue)
    case .paused: writer.byte(3)
    case .cancelled: writer.byte(4)
    case .failed(let failure):
      writer.byte(5)
      encode(failure, to: &writer)
    }
  }

  private static func state(_ reader: inout BinaryReader) throws(CacheError) -> DownloadState {
    switch try reader.byte() {
    case 0: return .waiting(.slot)
    case 1:
      let time = Timestamp(seconds: try reader.signed())
      return .waiting(.retry(at: time, after: try failure(&reader)))
    case 2:
      guard let source = DownloadState.Source(rawValue: try reader.text()) else {
        throw BinaryReader.damaged("unknown source")
      }
      return .done(source)
    case 3: return .paused
    case 4: return .cancelled
    case 5: return .failed(try failure(&reader))
    default: throw BinaryReader.damaged("unknown state")
    }
  }

  private static func encode(_ failure: DownloadFailure, to writer: inout BinaryWriter) {
    writer.text(failure.kind.rawValue)
    writer.text(failure.message)
  }

  private static func failure(_ reader: inout BinaryReader) throws(CacheError) -> DownloadFailure {
    guard let kind = DownloadFailure.Kind(rawValue: try reader.text()) else {
      throw BinaryReader.damaged("unknown failure")
    }
    return DownloadFailure(kind, try reader.text())
  }
}

extension BinaryWriter {
  fileprivate mutating func optionalText(_ value: String?) {
    byte(value == nil ? 0 : 1)
    if let value { text(value) }
  }
}

extension BinaryReader {
  fileprivate mutating func optionalText() throws(CacheError) -> String? {
    switch try byte() {
    case 0: return nil
    case 1: return try text()
    default: throw Self.damaged("neither absent nor present")
    }
  }

  mutating func fixed() throws(CacheError) -> UInt64 {
    var value: UInt64 = 0
    for index in 0..<8 { value |= UInt64(try byte()) << UInt64(index * 8) }
    return value
  }

  fileprivate mutating func smallNumber() throws(CacheError) -> Int {
    Int(clamping: min(max(0, try signed()), 1 << 30))
  }
}
