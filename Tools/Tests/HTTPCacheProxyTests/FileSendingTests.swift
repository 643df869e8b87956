import HTTPCacheLibC
import HTTPCacheStore
import HTTPCaching
import HTTPTypes
import NIOCore
import NIOPosix
import NIOSSL
import ServerTesting
import Synchronization
import Testing

@testable import HTTPCacheProxy

@Suite("Stored bodies sent from their files", .timeLimit(.minutes(10))) struct FileSendingTests {
  /// A stored body in a file, which says whether it was read instead of sent.
  private final class StoredFile: BodyReader, BodySource {
    let content: BodyBytes
    let region: HTTPCacheStore.FileRegion
    let range: Range<Int64>
    let reads = Atomic(0)
    let comparisons = Atomic(0)

    init(_ content: [UInt8], offset: Int64, range: Range<Int64>, isVerified: Bool) throws {
      self.content = BodyBytes(content)
      self.range = range
      var template = Array("/tmp/httpcache-test-XXXXXX".utf8CString)
      let descriptor = mkstemp(&template)
      try #require(descriptor >= 0)
      unlink(template)
      let bytes = [UInt8](repeating: 33, count: Int(offset)) + content
      #expect(write(descriptor, bytes, bytes.count) == bytes.count)
      region = HTTPCacheStore.FileRegion(
        descriptor: descriptor, offset: offset, count: Int64(content.count), isVerified: isVerified)
    }

    deinit { close(region.descriptor) }

    var length: Int64? { Int64(range.count) }
    var availableRanges: [Range<Int64>] { [0..<Int64(content.count)] }
    var bytesInMemory: BodyBytes? { nil }
    var fileRegion: HTTPCacheStore.FileRegion? { region }
    func isVerified(_ range: Range<Int64>) -> Bool {
      comparisons.add(1, ordering: .relaxed)
      return region.isVerified
        && Int64(lseek(region.descriptor, 0, SEEK_END)) >= region.offset + region.count
    }
    func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
      content[Int(range.lowerBound)..<Int(range.upperBound)]
    }
    func clone(to path: String) async throws(CacheError) { throw CacheError(.io, path) }
    var trailers: HTTPFields { [:] }
    var stored: StoredBodyRange? { StoredBodyRange(reader: self, range: range) }
    func next() async throws -> BodyBytes? {
      guard reads.add(1, ordering: .relaxed).oldValue == 0 else { return nil }
      return content[Int(range.lowerBound)..<Int(range.upperBound)]
    }
    func cancel() {}
  }

  /// The two ends of a connection, and the writer of one of them.
  private func connection() async throws -> (peer: RawPeer, stream: ByteStream, writer: ResponseWriter) {
    let listener = try RawOrigin()
    let stream = try await Connector(
      group: MultiThreadedEventLoopGroup.singleton, timeout: .seconds(60), tls: .makeClientConfiguration()
    ).connect(to: Origin(isSecure: false, host: "127.0.0.1", port: listener.port))
    let peer = try await listener.accept()
    let writer = ResponseWriter(
      stream: stream, method: .get, form: .http1(minorVersion: 1), sendsFiles: true, timeout: .seconds(60))
    return (peer, stream, writer)
  }

  /// Sends a body through a socket and returns what arrives.
  private func send(_ stored: StoredFile) async throws -> String {
    let (peer, stream, writer) = try await connection()
    async let received = peer.receiveAll()
    let result = try await writer.send(HTTPResponse(status: .ok), MessageBody(stored), persists: true)
    #expect(result.bytes == stored.length)
    #expect(result.isReusable)
    stream.close()
    return try await received
  }

  private func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: 65 + $0 % 26) }
  }

  @Test("a checked file is sent without being read, the range of it that was asked for")
  func checked() async throws {
    let content = pattern(3 << 20)
    let stored = try StoredFile(content, offset: 10, range: 5..<Int64(content.count - 5), isVerified: true)
    let all = try await send(stored)
    #expect(stored.reads.load(ordering: .relaxed) == 0)
    // Before each slice of at most 512 KiB.
    #expect(stored.comparisons.load(ordering: .relaxed) >= 6)
    #expect(field("Content-Length", in: String(all.prefix(200))) == "\(content.count - 10)")
    #expect(all.hasSuffix("\r\n\r\n" + String(decoding: content[5..<content.count - 5], as: UTF8.self)))
  }

  @Test(
    "a file that was not checked is read, and so is a small one", arguments: [(1 << 20, false), (1000, true)])
  func read(_ size: Int, _ isVerified: Bool) async throws {
    let content = pattern(size)
    let stored = try StoredFile(content, offset: 0, range: 0..<Int64(size), isVerified: isVerified)
    let all = try await send(stored)
    #expect(stored.reads.load(ordering: .relaxed) > 0)
    #expect(all.hasSuffix("\r\n\r\n" + String(decoding: content, as: UTF8.self)))
  }

  @Test("where a file was cut while it was being sent, the connection ends before all bytes came")
  func cut() async throws {
    // More than the buffers of two sockets take, so that much of it is still to be sent then.
    let content = [UInt8](repeating: 0x61, count: 24 << 20)
    let stored = try StoredFile(content, offset: 0, range: 0..<Int64(content.count), isVerified: true)
    let (peer, stream, writer) = try await connection()
    let sending = Task {
      try await writer.send(HTTPResponse(status: .ok), MessageBody(stored), persists: true)
    }
    var received = try await peer.count(upTo: 1)
    #expect(ftruncate(stored.region.descriptor, 1 << 20) == 0)
    await #expect(throws: (any Error).self) { _ = try await sending.value }
    stream.close()
    received += try await peer.count(upTo: .max)
    #expect(received < content.count)
    #expect(stored.reads.load(ordering: .relaxed) == 0)
  }
}
