import Foundation
import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Makes seeds of the entries of a HAR file.
enum HARImport {
  /// Adds the responses of a HAR file.
  ///
  /// - Throws: `CacheError.damaged` if the file is not a HAR file or was cut, `CacheError.io`, `CacheError.noSpace`.
  static func run(_ file: CacheFile, name: String, into output: inout RecordingOutput) throws(CacheError) {
    var scanner = try HARScanner.open(file, name)
    let decoder = JSONDecoder()
    while let slice = try scanner.next() {
      let place = "entry \(slice.number)"
      guard !slice.isTooLarge, let entry = try? decoder.decode(HAREntry.self, from: Data(slice.json)) else {
        output.note(
          "\(place): \(slice.isTooLarge ? "larger than 8 MiB without its body" : "not as HAR 1.2 has it")")
        continue
      }
      guard let target = TargetURI.recorded(entry.request.url) else {
        output.note("\(place): not an http or https URL: \(entry.request.url.prefix(200))")
        continue
      }
      let head: RecordedHead
      var objection: String?
      do throws(CacheError) { (head, objection) = try Self.head(entry, to: target) } catch {
        output.note("\(place): \(target): \(error.message)")
        continue
      }
      let content = entry.response.content
      if objection == nil, entry.lacksBody { objection = "the recording has no body for it" }
      if let objection {
        output.note("\(place): \(target): \(objection)")
        continue
      }
      let text = HARText(content?.text ?? "", encoding: content?.encoding, of: slice, in: file)
      try add(head, of: entry, text: text, number: slice.number, to: &output)
    }
  }

  /// - Throws: `CacheError.damaged` for too many fields.
  private static func head(
    _ entry: HAREntry, to target: String
  ) throws(CacheError) -> (RecordedHead, String?) {
    var fields = try entry.response.fields
    if fields[.contentType] == nil, let type = entry.response.content?.mimeType, !type.isEmpty,
      type != "x-unknown", HTTPField.isValidValue(type)
    {
      fields[.contentType] = type
    }
    let coding = fields[.contentEncoding]
    let head = RecordedHead(
      target: target, status: entry.response.status, fields: fields, request: try entry.request.fields,
      times: RecordedTime.of(entry) ?? (0, 0),
      isDecoded: coding != nil && coding?.lowercased() != "identity"
        && entry.response.content?.isCoded != true)
    return (
      head,
      entry.request.method == "GET" ? head.objection : "a response to \(entry.request.method.prefix(20))"
    )
  }

  private static func add(
    _ head: RecordedHead, of entry: HAREntry, text: HARText, number: Int,
    to output: inout RecordingOutput
  ) throws(CacheError) {
    let place = "entry \(number)"
    var head = head
    var reader = text.reader()
    var isASCII = true
    do throws(CacheError) {
      while let bytes = try reader.next() {
        isASCII = isASCII && bytes.withUnsafeBytes { $0.allSatisfy { $0 < 0x80 } }
        try output.archive.append(bytes)
      }
    } catch  where error.code == .damaged {
      try output.archive.discardBody()
      return output.note("\(place): \(head.target): \(error.message)")
    }
    let encoding = entry.response.content?.encoding
    let isText = encoding == nil || encoding?.isEmpty == true
    let body = try output.archive.endBody()
    // A text may have lost its byte order mark.
    if let size = entry.expectedLength, size > body.length + (isText ? 3 : 0),
      !isText || !Charset.isOther(head.fields[.contentType])
    {
      return output.note("\(place): \(head.target): \(body.length) of \(size) bytes were recorded")
    }
    let type = head.fields[.contentType]
    if isText, Charset.isOther(type) || (!isASCII && !Charset.isUTF8(type)) {
      head.fields[.contentType] = Charset.utf8(head.fields[.contentType])
    }
    try output.add(head, body: body, order: number, place: place)
  }
}
