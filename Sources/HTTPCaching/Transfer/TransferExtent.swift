/// The octets of a representation that a transfer brings, and the stored octets around them that its readers
/// can read through the writer.
struct TransferExtent: Sendable {
  /// Where the origin's octets begin. Earlier octets are stored, or not needed.
  var start: Int64 = 0
  /// Where they end, if announced.
  var end: Int64?
  /// The last possible end.
  var limit: Int64?
  /// The end of the stored octets that follow, readable once the transfer has filled the gap.
  var readableEnd: Int64?

  /// A whole body of this length.
  init(length: Int64?) { end = length }

  /// A part, with `length` octets according to the framing of the message.
  init(_ range: Range<Int64>, length: Int64?, readableEnd: Int64? = nil) {
    start = range.lowerBound
    end = length.map { range.lowerBound + min($0, range.upperBound - range.lowerBound) }
    limit = range.upperBound
    self.readableEnd = readableEnd
  }
}
