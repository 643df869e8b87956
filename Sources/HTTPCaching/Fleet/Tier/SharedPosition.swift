/// A position in the log of changes: milliseconds of the server's clock, and a number within them.
public struct SharedPosition: Sendable, Hashable, Comparable {
  /// Milliseconds since 1970 by the clock of the server that added the change.
  public let time: UInt64
  /// The number within the millisecond.
  public let number: UInt64

  /// Makes a position.
  public init(time: UInt64, number: UInt64) {
    self.time = time
    self.number = number
  }

  /// The position before every change.
  public static let start = SharedPosition(time: 0, number: 0)

  /// Orders positions as the log does, earlier first.
  public static func < (first: SharedPosition, second: SharedPosition) -> Bool {
    (first.time, first.number) < (second.time, second.number)
  }
}

extension SharedPosition: CustomStringConvertible {
  /// Time and number, such as `1700000000000-3`.
  public var description: String { "\(time)-\(number)" }

  /// The position some places above this one, with the same time; nil beyond the highest number.
  func above(by places: Int) -> SharedPosition? {
    let (number, overflow) = number.addingReportingOverflow(UInt64(max(0, places)))
    return overflow ? nil : SharedPosition(time: time, number: number)
  }
}
