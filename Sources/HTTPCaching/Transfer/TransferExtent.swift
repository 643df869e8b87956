/// Which octets of a representation a transfer brings, and which of its other octets are stored
/// already and can be read on from the same writer.
struct TransferExtent: Sendable {
  /// Where in the representation the origin's octets begin; those before are stored, or not wanted.
  var start: Int64 = 0
  /// Where they end, if that was announced.
  var end: Int64?
  /// Where they end at the latest.
  var limit: Int64?
  /// The end of what is stored behind them, once they are all there.
  var readableEnd: Int64?

  /// A whole body of this length.
  init(length: Int64?) { end = length }

  /// A part, `length` octets of it according to the framing of the message.
  init(_ range: Range<Int64>, length: Int64?, readableEnd: Int64? = nil) {
    start = range.lowerBound
    end = length.map { range.lowerBound + min($0, range.upperBound - range.lowerBound) }
    limit = range.upperBound
    self.readableEnd = readableEnd
  }
}
