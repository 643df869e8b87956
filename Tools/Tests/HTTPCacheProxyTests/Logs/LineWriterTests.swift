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

  /// The text that a pipe has, once it has this number of lines.
  private static func text(_ end: Int32, lines: Int) async -> String {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        var bytes: [UInt8] = []
        while bytes.count(where: { $0 == UInt8(ascii: "\n") }) < lines {
          var entry = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
          // Longer than any run that passes.
          guard poll(&entry, 1, 300_000) == 1 else { break }
          bytes += waiting(end)
        }
        continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
      }
    }
  }

  @Test("the lines that an event loop adds are written after its events")
  func loop() async throws {
    let ends = try Self.makePipe()
    defer { for end in ends { close(end) } }
    let writer = LineWriter(descriptor: ends[1])
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    try await group.next().submit { for line in ["a\n", "b\n"] { writer.add(line) } }.get()
    #expect(await Self.text(ends[0], lines: 2) == "a\nb\n")
    try await group.next().submit { writer.add("c\n") }.get()
    #expect(await Self.text(ends[0], lines: 1) == "c\n")
    try await group.shutdownGracefully()
  }

  @Test(
    "a line of a blocked event loop is written with those of others, and by a flush",
    arguments: [true, false])
  func blockedLoop(flushes: Bool) async throws {
    let ends = try Self.makePipe()
    defer { for end in ends { close(end) } }
    let writer = LineWriter(descriptor: ends[1])
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let mayEnd = DispatchSemaphore(value: 0)
    let (added, isAdded) = AsyncStream<Void>.makeStream()
    let event = group.next().submit {
      writer.add("line\n")
      isAdded.yield()
      mayEnd.wait()
    }
    for await _ in added { break }
    if flushes {
      let flush = Task { await writer.flush() }
      #expect(await Self.text(ends[0], lines: 1) == "line\n")
      mayEnd.signal()
      await flush.value
    } else {
      writer.add("other\n")
      #expect(await Self.text(ends[0], lines: 2) == "line\nother\n")
      mayEnd.signal()
    }
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
