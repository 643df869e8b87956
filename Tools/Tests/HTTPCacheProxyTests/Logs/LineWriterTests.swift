import Dispatch
import HTTPCacheLibC
import NIOCore
import NIOPosix
import Testing

@testable import HTTPCacheProxy

@Suite("Lines that cannot be written", .timeLimit(.minutes(10))) struct LineWriterTests {
  /// The bytes that wait in a pipe whose reading end does not block.
  private static func waiting(_ end: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(end, &buffer, buffer.count)
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
  }

  private static func makePipe() throws -> [Int32] {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    try #require(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
    return ends
  }

  @Test("after half a line the next one begins with a line feed, and the dropped line is counted")
  func halfLine() async throws {
    let ends = try Self.makePipe()
    defer { for end in ends { close(end) } }
    let writer = LineWriter(descriptor: ends[1])
    // More than a pipe takes.
    writer.add(size: 1) { String(repeating: "x", count: 4 << 20) + "\n" }
    await writer.flush()
    #expect(Self.waiting(ends[0]).allSatisfy { $0 == UInt8(ascii: "x") })
    writer.add("next\n")
    await writer.flush()
    let text = String(decoding: Self.waiting(ends[0]), as: UTF8.self)
    #expect(text == "\nnext\nhttpcache: 1 log lines dropped\n")
  }

  @Test("a line that an event loop adds is written while the loop is busy")
  func busyLoop() async throws {
    let ends = try Self.makePipe()
    defer { for end in ends { close(end) } }
    let writer = LineWriter(descriptor: ends[1])
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let (isAdded, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let event = group.next().submit {
      writer.add("line\n")
      isAdded.signal()
      mayEnd.wait()
    }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        isAdded.wait()
        continuation.resume()
      }
    }
    await writer.flush()
    #expect(String(decoding: Self.waiting(ends[0]), as: UTF8.self) == "line\n")
    mayEnd.signal()
    try await event.get()
    try await group.shutdownGracefully()
  }

  #if os(Linux)
    @Test("lines that a full device does not take are counted")
    func fullDevice() async throws {
      let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
      try #require(full >= 0)
      let ends = try Self.makePipe()
      defer { close(ends[0]) }
      let writer = LineWriter(descriptor: full)
      for _ in 1...3 {
        writer.add("lost\n")
        await writer.flush()
      }
      // Closes the device.
      writer.replace(descriptor: ends[1])
      writer.add("next\n")
      await writer.flush()
      let text = String(decoding: Self.waiting(ends[0]), as: UTF8.self)
      #expect(text == "next\nhttpcache: 3 log lines dropped\n")
      close(ends[1])
    }
  #endif
}
