import HTTPCaching

/// The longest body to store as an argument: bytes such as `64MiB`, or a share of the capacity such as
/// `10%`.
struct LargestEntryArgument: ExpectedArgument, Sendable, Hashable, CustomStringConvertible {
  static let expected = "bytes such as 64M, or a share such as 10%"

  /// The limit.
  let limit: LargestEntry

  /// Makes an argument.
  init(_ limit: LargestEntry) { self.limit = limit }

  /// Parses an argument; nil unless it is a size or a share from 0 to 100 %.
  init?(argument: String) {
    if argument.hasSuffix("%") {
      guard let percent = Double(argument.dropLast()), (0...100).contains(percent) else { return nil }
      limit = .share(percent / 100)
    } else {
      guard let size = ByteSize(argument: argument) else { return nil }
      limit = .bytes(size.bytes)
    }
  }

  /// The argument as text.
  var description: String {
    switch limit {
    case .default: return "50%"
    case .bytes(let bytes): return ByteSize(bytes: bytes).description
    case .share(let share):
      let percent = share * 100
      return (percent == percent.rounded() ? "\(Int(percent))" : "\(percent)") + "%"
    }
  }
}
