import Testing

@testable import HTTPCacheImages

@Suite("The scans of a progressive JPEG as it arrives", .timeLimit(.minutes(10)))
struct ProgressiveScansTests {
  @Test("a header that has not ended is read again with twice as many bytes, not with each part")
  func longHeader() throws {
    // The header of the sample ends at byte 245, its first scan at byte 348.
    let bytes = ProgressiveSample.bytes
    try #require(bytes.count > 400)
    var scans = ProgressiveScans()
    for (count, hasPreview) in [(200, false), (399, false), (400, true)] {
      let preview = scans.preview(of: Array(bytes.prefix(count)))
      #expect((preview != nil) == hasPreview, "\(count)")
    }
  }
}
