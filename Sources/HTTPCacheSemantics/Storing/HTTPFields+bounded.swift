public import HTTPTypes

extension HTTPFields {
  /// The most fields of a head, or of trailers, that come from outside of the program: from an origin, a client, a file
  /// or an argument. `HTTPFields` ends the process at 65,535 fields; this limit leaves enough for two heads in one.
  public static let countLimit = 16_384

  /// Adds a field that comes from outside of the program.
  ///
  /// - Returns: false if there are already `countLimit` fields; the field is then not added.
  public mutating func appendBounded(_ field: HTTPField) -> Bool {
    guard count < Self.countLimit else { return false }
    // bounded: the line before compares with the limit.
    append(field)
    return true
  }
}
