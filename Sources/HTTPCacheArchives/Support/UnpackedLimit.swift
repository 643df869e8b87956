import HTTPCacheStore

/// The bytes that a file may unpack to. A small file could otherwise fill the disk: gzip makes a thousandth of zeros, and
/// several responses of a recording or an archive may name one body.
struct UnpackedLimit: Sendable {
  private static let free: Int64 = 64 << 20
  private static let factor: Int64 = 50

  /// The maximum for all parts together.
  let bytes: Int64
  private var used: Int64 = 0

  /// - Parameter length: the length of the file.
  init(length: Int64) { bytes = Self.bytes(for: length) }

  /// The maximum for a file of this length.
  private static func bytes(for length: Int64) -> Int64 {
    let (product, isTooLarge) = max(0, length).multipliedReportingOverflow(by: factor)
    return isTooLarge || product > .max - free ? .max : product + free
  }

  /// The maximum for one part of this length: half of that for a file, so that one part does not take all.
  static func part(length: Int64) -> Int64 { bytes(for: length) / 2 }

  /// Takes unpacked bytes from what is left.
  ///
  /// - Throws: `CacheError.tooLarge` if not so many are left.
  mutating func take(_ count: Int64, of name: @autoclosure () -> String) throws(CacheError) {
    guard takes(count) else {
      throw CacheError(
        .tooLarge,
        "\(name()) unpacks to more than \(bytes) bytes, which are 64 MiB and \(Self.factor) times its length")
    }
  }

  /// Takes unpacked bytes from what is left, or none.
  ///
  /// - Returns: false if not so many are left.
  mutating func takes(_ count: Int64) -> Bool {
    guard count <= bytes - used else { return false }
    used += count
    return true
  }

  /// Gives back bytes that were taken, and that are unpacked again.
  mutating func giveBack(_ count: Int64) { used -= min(count, used) }
}
