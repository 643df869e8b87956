import HTTPCacheSemantics

/// The properties that each format after 1 appends to a record. A property of a later format concerns only this
/// file.
extension RecordCodec {
  /// The highest format that is written: 3 for a record that overrides affect, 2 for a record with
  /// `requestedRange`, otherwise 1, which lacks both.
  package static let recordFormat: UInt8 = 3

  /// The lowest format that has all properties of a response.
  static func recordFormat(of response: StoredResponse) -> UInt8 {
    if response.facts.overrides != 0 || response.keyFingerprint != 0 { return 3 }
    return response.requestedRange == nil ? 1 : 2
  }

  /// Writes the properties that format 1 lacks.
  static func writeAdditions(of response: StoredResponse, format: UInt8, to writer: inout BinaryWriter) {
    if format >= 3 { writer.byte(response.requestedRange == nil ? 0 : 1) }
    if let range = response.requestedRange { writer.text(range) }
    if format >= 3 {
      writer.unsigned(response.facts.overrides)
      writer.unsigned(response.keyFingerprint)
    }
  }

  /// Reads the properties that format 1 lacks into a response.
  static func readAdditions(
    to response: inout StoredResponse, format: UInt8, from reader: inout BinaryReader
  ) throws(CacheError) {
    let hasRange = format >= 3 ? try readFlag(&reader) : format == 2
    if hasRange { response.requestedRange = try reader.text() }
    if format >= 3 {
      response.facts.overrides = try reader.unsigned()
      response.keyFingerprint = try reader.unsigned()
    }
    guard recordFormat(of: response) == format else {
      throw BinaryReader.damaged("format \(format) without what it adds")
    }
  }

  private static func readFlag(_ reader: inout BinaryReader) throws(CacheError) -> Bool {
    let byte = try reader.byte()
    guard byte <= 1 else { throw BinaryReader.damaged("neither 0 nor 1") }
    return byte == 1
  }
}
