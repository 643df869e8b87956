import HTTPCaching

/// Finds the complete scans of a progressive JPEG as its bytes arrive.
struct ProgressiveScans {
  private var position: Int?
  private var isOver = false
  /// The number of bytes with which the header is read next. Each attempt begins at the start of the file, so the number
  /// doubles: a long header in many parts then takes the time of two passes.
  private var nextCount = 0
  /// Where the last complete scan ends; nil before the end of the first one. The last scan of a file does not count.
  private var end: Int?

  /// Looks at the bytes that are new.
  ///
  /// - Parameter bytes: all bytes so far.
  /// - Returns: a JPEG of the complete scans, if there are more of them than before.
  mutating func preview(of bytes: [UInt8]) -> BodyBytes? {
    guard !isOver, var index = position ?? begin(bytes) else { return nil }
    let before = end
    // A byte FF of the data of a scan is followed by 0: FF DA is the marker of the next scan.
    while index + 1 < bytes.count {
      if bytes[index] == 0xFF, bytes[index + 1] == 0xDA { end = index }
      index += 1
    }
    position = index
    guard let end, end != before else { return nil }
    return BodyBytes(Array(bytes[..<end]) + [0xFF, 0xD9])
  }

  private mutating func begin(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= nextCount else { return nil }
    nextCount = 2 * bytes.count
    do throws(ImageError) {
      let header = try JPEGHeader(BodyBytes(bytes))
      isOver = !header.isProgressive
      return header.isProgressive ? header.scanStart : nil
    } catch {
      isOver = error != .truncated
      return nil
    }
  }
}
