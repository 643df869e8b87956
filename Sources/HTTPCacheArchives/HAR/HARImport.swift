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
      let entry: HAREntry
      do throws(CacheError) { entry = try slice.entry(decoder) } catch {
        output.note("\(place): \(error.message)")
        continue
      }
      guard let target = TargetURI.recorded(entry.request.url) else {
        output.note("\(place): not an http or https URL: \(entry.request.url.prefix(200))")
        continue
      }
      var head: RecordedHead
      var objection: String?
      let text: HARText
      do throws(CacheError) {
        (head, objection) = try Self.head(entry, to: target)
        if objection == nil, entry.lacksBody { objection = "the recording has no body for it" }
        if let objection { throw CacheError(.damaged, objection) }
        text = try HARText(
          entry.response.content, coding: head.fields[.contentEncoding], of: slice, in: file)
      } catch {
        guard error.code == .damaged else { throw error }
        output.note("\(place): \(target): \(error.message)")
        continue
      }
      if text.form.isCoded { head.isDecoded = false }
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
    let isText = text.form == .text
    let body = try output.archive.endBody()
    // A text may have lost its byte order mark. Some programs, such as Polly.js and Optic, write the length of the text
    // in Base64 or hex.
    if let size = entry.expectedLength, size > body.length + (isText ? 3 : 0), size != reader.textLength,
      !isText || !Charset.isOther(head.fields[.contentType])
    {
      return output.note("\(place): \(head.target): \(body.length) of \(size) bytes were recorded")
    }
    let type = head.fields[.contentType]
    if isText, body.length > 0, Charset.isOther(type) || (!isASCII && !Charset.isUTF8(type)) {
      head.fields[.contentType] = Charset.utf8(head.fields[.contentType])
    }
    try output.add(head, body: body, order: number, place: place)
  }
}
