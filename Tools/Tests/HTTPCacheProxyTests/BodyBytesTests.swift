import HTTPCacheStore
import NIOCore
import Testing

@testable import HTTPCacheProxy

@Suite(.timeLimit(.minutes(10))) struct BodyBytesTests {
  private func isShared(_ bytes: BodyBytes, with buffer: ByteBuffer) -> Bool {
    buffer.withUnsafeReadableBytes { readable in
      bytes.withUnsafeBytes { $0.baseAddress == readable.baseAddress }
    }
  }

  @Test("the bytes of a buffer are shared, and stay when the buffer changes")
  func sharedBytes() {
    var buffer = ByteBuffer(string: String(repeating: "a", count: 1024))
    let bytes = BodyBytes(buffer)
    #expect(isShared(bytes, with: buffer))
    buffer.setString("b", at: 0)
    #expect(bytes.array == Array(repeating: UInt8(ascii: "a"), count: 1024))
  }

  @Test("a slice of a large buffer does not keep it alive")
  func slice() throws {
    let buffer = ByteBuffer(repeating: 7, count: 64 << 10)
    let slice = try #require(buffer.getSlice(at: 100, length: 1000))
    let bytes = BodyBytes(slice)
    #expect(!isShared(bytes, with: slice))
    #expect(bytes.array == Array(repeating: 7, count: 1000))
  }

  @Test("a few bytes do not keep a large buffer alive")
  func fewBytes() {
    var buffer = ByteBuffer()
    buffer.reserveCapacity(4096)
    buffer.writeString("few")
    let bytes = BodyBytes(buffer)
    #expect(!isShared(bytes, with: buffer))
    #expect(bytes.array == Array("few".utf8))
  }
}
