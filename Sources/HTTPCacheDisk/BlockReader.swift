import HTTPCacheSemantics
import HTTPCacheStore

/// Reads a body's file and checks the blocks it reads.
final class BlockReader: Sendable {
  let file: OpenFile
  private let verification: Verification
  private let checked: CheckedBlocks
  // What the file was when it was opened; nil for one that is being written.
  private let state: FileState?
  // Loads the checksums of a body whose blocks were all checked when it was opened.
  private let reload: (@Sendable () throws(CacheError) -> BlockChecksums)?

  /// The most bytes that are read on the caller's thread if they are in the page cache: copying them
  /// takes less than a change of threads, hashing them would take more.
  private static let inlineLimit = (checked: 1 << 20, unchecked: 64 << 10)

  init(
    file: OpenFile, verification: Verification, checked: CheckedBlocks = CheckedBlocks(),
    state: FileState? = nil, reload: (@Sendable () throws(CacheError) -> BlockChecksums)? = nil
  ) {
    self.file = file
    self.verification = verification
    self.checked = checked
    self.state = state
    self.reload = reload
  }

  /// Whether the blocks of a range were checked, so that it may be sent without being read, and the file
  /// is what it was when it was opened.
  func isVerified(_ range: Range<Int64>) -> Bool {
    guard verification == .firstRead, checked.contains(Self.blocks(of: range)) else { return false }
    return isUnchanged
  }

  /// Whether the file holds the bytes that it held when it was opened.
  private var isUnchanged: Bool {
    guard let state else { return true }
    return (try? file.status()).map { FileState($0).hasBytes(of: state) } ?? false
  }

  private static func blocks(of range: Range<Int64>) -> Range<Int> {
    let length = BlockChecksums.blockLength
    guard !range.isEmpty else { return 0..<0 }
    return Int(range.lowerBound / length)..<Int((range.upperBound - 1) / length) + 1
  }

  /// What has to be read to answer a range: whole blocks where they are still to be checked.
  private struct Plan {
    let span: Range<Int64>
    let blocks: Range<Int>
    let isChecked: Bool
  }

  private func plan(_ range: Range<Int64>, length: Int64, trusting: Bool) -> Plan {
    let blocks = Self.blocks(of: range)
    if trusting, verification == .firstRead, checked.contains(blocks) {
      return Plan(span: range, blocks: blocks.lowerBound..<blocks.lowerBound, isChecked: true)
    }
    let start = Int64(blocks.lowerBound) * BlockChecksums.blockLength
    let end = min(length, Int64(blocks.upperBound) * BlockChecksums.blockLength)
    return Plan(span: start..<end, blocks: blocks, isChecked: false)
  }

  /// Reads a range, which must not be empty and lie within `length`. Checks blocks that were not checked yet,
  /// and all blocks of a file that has changed since it was opened.
  ///
  /// - Parameters:
  ///   - length: of the file, all of whose blocks have checksums.
  ///   - onlyCached: gives up, with nil, where it would have to wait for a disk, or copy or hash so much
  ///     that it holds its thread.
  /// - Throws: `CacheError.damaged`, `CacheError.io`.
  func read(
    _ range: Range<Int64>, length: Int64, checksums: BlockChecksums, onlyCached: Bool
  ) throws(CacheError) -> BodyBytes? {
    if let bytes = try read(range, length: length, checksums, onlyCached: onlyCached, trusting: true) {
      return bytes
    }
    if onlyCached { return nil }
    let blocks = Self.blocks(of: range)
    var checksums = checksums
    if checksums.values.count < blocks.upperBound, let reload { checksums = try reload() }
    return try read(range, length: length, checksums, onlyCached: false, trusting: false)
  }

  /// Reads a range once.
  ///
  /// - Parameter trusting: whether blocks that were checked before need no check.
  /// - Returns: nil where it gives up, or trusted a file that has changed.
  private func read(
    _ range: Range<Int64>, length: Int64, _ checksums: BlockChecksums, onlyCached: Bool, trusting: Bool
  ) throws(CacheError) -> BodyBytes? {
    let plan = plan(range, length: length, trusting: trusting)
    if onlyCached {
      let limit = plan.isChecked ? Self.inlineLimit.checked : Self.inlineLimit.unchecked
      guard range.count <= limit,
        plan.isChecked || plan.span.count <= Int(BlockChecksums.blockLength)
      else { return nil }
    }
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
    // Asked after reading: a write that was read has changed the times before.
    if plan.isChecked { return isUnchanged ? bytes : nil }
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
    checked.insert(plan.blocks)
  }

  /// Checks every block that was not checked yet.
  func checkAll(length: Int64, checksums: BlockChecksums) throws(CacheError) {
    var start: Int64 = 0
    while start < length {
      let end = min(length, start + BlockChecksums.blockLength)
      if verification == .everyRead || !checked.contains(Self.blocks(of: start..<end)) {
        _ = try read(start..<end, length: length, checksums: checksums, onlyCached: false)
      }
      start = end
    }
  }
}
