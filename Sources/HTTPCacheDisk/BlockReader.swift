import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// Reads a body's file and checks the blocks it reads.
final class BlockReader: Sendable {
  let file: OpenFile
  private let verification: Verification
  // One bit for each block that was checked since the file was opened.
  private let checked: Mutex<Checked>

  private struct Checked {
    var words: [UInt64] = []
    var count = 0

    func contains(_ block: Int) -> Bool {
      block >> 6 < words.count && words[block >> 6] >> UInt64(block & 63) & 1 == 1
    }

    mutating func insert(_ block: Int) {
      while block >> 6 >= words.count { words.append(0) }
      guard !contains(block) else { return }
      words[block >> 6] |= 1 << UInt64(block & 63)
      count += 1
    }
  }

  init(file: OpenFile, verification: Verification) {
    self.file = file
    self.verification = verification
    checked = Mutex(Checked())
  }

  /// Whether each of so many blocks was checked in this open.
  func isVerified(blocks: Int) -> Bool { checked.withLock { $0.count >= blocks } }

  /// What has to be read to answer a range: whole blocks where they are still to be checked.
  private struct Plan {
    let span: Range<Int64>
    let blocks: Range<Int>
    let isChecked: Bool
  }

  private func plan(_ range: Range<Int64>, length: Int64) -> Plan {
    let first = Int(range.lowerBound / BlockChecksums.blockLength)
    let last = Int((range.upperBound - 1) / BlockChecksums.blockLength)
    if verification == .firstRead,
      checked.withLock({ checked in (first...last).allSatisfy { checked.contains($0) } })
    {
      return Plan(span: range, blocks: first..<first, isChecked: true)
    }
    let start = Int64(first) * BlockChecksums.blockLength
    let end = min(length, Int64(last + 1) * BlockChecksums.blockLength)
    return Plan(span: start..<end, blocks: first..<last + 1, isChecked: false)
  }

  /// Reads a range, which must not be empty and lie within `length`.
  ///
  /// - Parameters:
  ///   - length: of the file, all of whose blocks have checksums.
  ///   - onlyCached: gives up, with nil, where it would have to wait for a disk, or hash so much that
  ///     it holds its thread.
  /// - Throws: `CacheError.damaged`, `CacheError.io`.
  func read(
    _ range: Range<Int64>, length: Int64, checksums: BlockChecksums, onlyCached: Bool
  ) throws(CacheError) -> BodyBytes? {
    let plan = plan(range, length: length)
    if onlyCached, plan.span.count > Int(BlockChecksums.blockLength) { return nil }
    var wasAll = true
    let bytes = try BodyBytes(unsafeUninitializedCapacity: plan.span.count) {
      (buffer) throws(CacheError) -> Int in
      if onlyCached {
        wasAll = file.readCached(into: buffer, at: plan.span.lowerBound)
        return wasAll ? buffer.count : 0
      }
      guard try file.read(into: buffer, at: plan.span.lowerBound) == buffer.count else {
        throw CacheError(.damaged, "the body's file is too short")
      }
      return buffer.count
    }
    guard wasAll else { return nil }
    if plan.isChecked { return bytes }
    try check(bytes, plan: plan, checksums: checksums)
    let offset = Int(range.lowerBound - plan.span.lowerBound)
    return bytes[offset..<offset + range.count]
  }

  private func check(
    _ bytes: BodyBytes, plan: Plan, checksums: BlockChecksums
  ) throws(CacheError) {
    guard plan.blocks.upperBound <= checksums.values.count else {
      throw CacheError(.damaged, "blocks of the body have no checksum")
    }
    try bytes.withUnsafeBytes { (buffer) throws(CacheError) in
      for block in plan.blocks {
        let start = (block - plan.blocks.lowerBound) * Int(BlockChecksums.blockLength)
        let end = min(buffer.count, start + Int(BlockChecksums.blockLength))
        let hash = XXH64.hash(UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
        guard hash == checksums.values[block] else {
          throw CacheError(.damaged, "block \(block) of the body is not what was written")
        }
      }
    }
    checked.withLock { checked in for block in plan.blocks { checked.insert(block) } }
  }

  /// Checks every block that was not checked yet.
  func checkAll(length: Int64, checksums: BlockChecksums) throws(CacheError) {
    var start: Int64 = 0
    while start < length {
      let end = min(length, start + BlockChecksums.blockLength)
      let isKnown = checked.withLock { $0.contains(Int(start / BlockChecksums.blockLength)) }
      if verification == .everyRead || !isKnown {
        _ = try read(start..<end, length: length, checksums: checksums, onlyCached: false)
      }
      start = end
    }
  }
}
