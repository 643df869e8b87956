/// Immutable bytes of a body, shared without copying.
///
/// A slice keeps all bytes of its owner alive.
public struct BodyBytes: Sendable {
  private final class Owner: @unchecked Sendable {
    // @unchecked Sendable because the memory is never written after init and freed only in deinit.
    let bytes: UnsafeRawBufferPointer
    let keptAlive: AnyObject?

    init(bytes: UnsafeRawBufferPointer, keptAlive: AnyObject?) {
      self.bytes = bytes
      self.keptAlive = keptAlive
    }

    deinit { if keptAlive == nil { bytes.deallocate() } }
  }

  // Systems copy a large body that starts at a cache line in little more than half the time. Aligned by hand,
  // because allocators are slower when asked to align.
  private static let cacheLine = 64
  private static let alignedFrom = 16 << 10

  private let owner: Owner?
  private let start: Int
  /// The number of bytes.
  public let count: Int

  /// No bytes.
  public init() {
    owner = nil
    start = 0
    count = 0
  }

  /// Copies a sequence of bytes.
  public init(_ bytes: some Collection<UInt8>) {
    self.init(unsafeUninitializedCapacity: bytes.count) { buffer in
      buffer.copyBytes(from: bytes)
      return bytes.count
    }
  }

  /// Allocates `capacity` bytes and lets `initialize` fill them.
  ///
  ///   - capacity: the number of bytes to allocate.
  ///   - initialize: writes into the buffer and returns the number of bytes that it wrote.
  /// - Throws: what `initialize` throws.
  public init<Failure: Error>(
    unsafeUninitializedCapacity capacity: Int,
    initializingWith initialize: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) {
    let spare = capacity >= Self.alignedFrom ? Self.cacheLine : 0
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(capacity + spare, 1), alignment: 16)
    let offset = spare == 0 ? 0 : -Int(bitPattern: buffer.baseAddress) & (Self.cacheLine - 1)
    let written: Int
    do {
      written = try initialize(
        UnsafeMutableRawBufferPointer(rebasing: buffer[offset..<offset + capacity]))
    } catch {
      buffer.deallocate()
      throw error
    }
    owner = Owner(bytes: UnsafeRawBufferPointer(buffer), keptAlive: nil)
    start = offset
    count = written
  }

  /// Shares memory that another object owns.
  ///
  /// - Parameters:
  ///   - bytes: memory that stays valid and unchanged as long as `owner` lives.
  ///   - owner: the object that is kept alive.
  public init(unsafeBytes bytes: UnsafeRawBufferPointer, keepingAlive owner: AnyObject) {
    self.owner = Owner(bytes: bytes, keptAlive: owner)
    start = 0
    count = bytes.count
  }

  private init(owner: Owner?, start: Int, count: Int) {
    self.owner = owner
    self.start = start
    self.count = count
  }

  /// The object that keeps the memory alive, if another object owns it.
  package var keptAlive: AnyObject? { owner?.keptAlive }

  /// Whether there are no bytes.
  public var isEmpty: Bool { count == 0 }

  /// The bytes in `range`, clamped to the existing bytes, sharing the memory.
  public subscript(range: Range<Int>) -> BodyBytes {
    let clamped = range.clamped(to: 0..<count)
    return BodyBytes(owner: owner, start: start + clamped.lowerBound, count: clamped.count)
  }

  /// The first `length` bytes at most.
  public func prefix(_ length: Int) -> BodyBytes { self[0..<max(0, min(length, count))] }

  /// All bytes after the first `length`.
  public func dropFirst(_ length: Int) -> BodyBytes { self[max(0, min(length, count))..<count] }

  /// Calls `body` with the bytes; the pointer must not escape.
  ///
  /// - Throws: what `body` throws.
  public func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let owner else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    defer { withExtendedLifetime(owner) {} }
    return try body(UnsafeRawBufferPointer(rebasing: owner.bytes[start..<start + count]))
  }

  /// A copy as an array.
  public var array: [UInt8] { withUnsafeBytes { Array($0) } }
}

extension BodyBytes {
  /// Joins pieces into one.
  package init(joining pieces: [BodyBytes]) {
    if let first = pieces.first, pieces.count == 1 {
      self = first
      return
    }
    let count = pieces.reduce(0) { $0 + $1.count }
    self.init(unsafeUninitializedCapacity: count) { buffer in
      var start = 0
      for piece in pieces {
        piece.withUnsafeBytes { source in
          UnsafeMutableRawBufferPointer(rebasing: buffer[start...]).copyMemory(from: source)
        }
        start += piece.count
      }
      return count
    }
  }
}
