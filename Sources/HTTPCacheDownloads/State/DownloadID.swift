/// Names a download of one queue, also after the process has ended.
public struct DownloadID: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// A random number.
  public let rawValue: UInt64

  /// Makes an identifier of a number that an earlier process kept.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// 16 hexadecimal digits.
  public var description: String {
    let digits = String(rawValue, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
