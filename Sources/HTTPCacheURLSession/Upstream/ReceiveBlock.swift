/// Memory into which arriving bytes are copied. Large blocks go back to the system when they are released: a
/// heap shared by several threads would keep many times the bytes that pass through it.
final class ReceiveBlock: @unchecked Sendable {
  // @unchecked Sendable because its bytes are written once, before any reader gets them.

  /// Bytes of the largest block.
  static let size = 256 << 10
  private static let smallestMapped = 64 << 10

  let bytes: UnsafeMutableRawBufferPointer
  private let isMapped: Bool

  init(capacity: Int) {
    let capacity = min(max(capacity, 1), Self.size)
    let mapped =
      capacity < Self.smallestMapped
      ? nil
      : mmap(nil, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    if let mapped, mapped != MAP_FAILED {
      bytes = UnsafeMutableRawBufferPointer(start: mapped, count: capacity)
      isMapped = true
    } else {
      bytes = .allocate(byteCount: capacity, alignment: 16)
      isMapped = false
    }
  }

  deinit {
    if isMapped { munmap(bytes.baseAddress, bytes.count) } else { bytes.deallocate() }
  }
}
