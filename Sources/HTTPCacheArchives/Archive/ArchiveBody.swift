import HTTPCacheFiles
import HTTPCacheStore
import Synchronization

/// A body in an archive. Opening it is free: it is its own reader.
final class ArchiveBody: StoredBody, BodyReader {
  private let entry: ArchiveFormat.Entry
  private let file: CacheFile
  private let checked: CheckedPlaces

  init(_ entry: ArchiveFormat.Entry, in file: CacheFile, checked: CheckedPlaces) {
    self.entry = entry
    self.file = file
    self.checked = checked
  }

  func open() throws(CacheError) -> any BodyReader { self }

  var length: Int64? { entry.bodyLength }

  var fileRegion: FileRegion? {
    FileRegion(
      descriptor: file.descriptor, offset: entry.bodyOffset, count: entry.bodyLength, isVerified: false)
  }

  func isVerified(_ range: Range<Int64>) -> Bool {
    guard range.lowerBound >= 0, range.upperBound <= entry.bodyLength else { return false }
    return checked.contain(blocks(of: range).lazy.map(place))
  }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    let range = range.clamped(to: 0..<entry.bodyLength)
    guard !range.isEmpty else { return BodyBytes() }
    if isVerified(range) {
      return try file.read(Int(range.upperBound - range.lowerBound), at: entry.bodyOffset + range.lowerBound)
    }
    let blocks = blocks(of: range)
    let size = ArchiveFormat.blockLength
    let whole = blocks.lowerBound * size..<min(entry.bodyLength, blocks.upperBound * size)
    let bytes = try file.read(
      Int(whole.upperBound - whole.lowerBound), at: entry.bodyOffset + whole.lowerBound)
    let sums = ArchiveFormat.words(
      try file.read(8 * blocks.count, at: entry.sumsOffset + 8 * blocks.lowerBound).array)
    for (number, sum) in zip(blocks, sums) {
      let start = Int(number * size - whole.lowerBound)
      let block = bytes[start..<start + Int(size)]
      guard block.withUnsafeBytes({ ArchiveFormat.sum($0, number: number) }) == sum else {
        throw CacheError(.damaged, "block \(number) of the body is damaged")
      }
      checked.insert(place(number))
    }
    let start = Int(range.lowerBound - whole.lowerBound)
    return bytes[start..<start + Int(range.upperBound - range.lowerBound)]
  }

  private func blocks(of range: Range<Int64>) -> Range<Int64> {
    guard !range.isEmpty else { return 0..<0 }
    return range.lowerBound / ArchiveFormat.blockLength..<ArchiveFormat.blocks(range.upperBound)
  }

  private func place(_ block: Int64) -> Int64 { entry.bodyOffset + block * ArchiveFormat.blockLength }
}

/// The blocks of an open archive that were checked, by their places in the file.
final class CheckedPlaces: Sendable {
  private let places = Mutex<Set<Int64>>([])

  func insert(_ place: Int64) { _ = places.withLock { $0.insert(place) } }

  /// Whether all of these blocks were checked.
  func contain(_ new: some Sequence<Int64>) -> Bool {
    places.withLock { places in new.allSatisfy(places.contains) }
  }
}
