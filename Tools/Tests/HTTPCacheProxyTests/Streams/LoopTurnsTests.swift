import Foundation
import NIOCore
import NIOEmbedded
import NIOPosix
import Synchronization
import Testing

@testable import HTTPCacheProxy

@Suite("Connections with much to do take turns", .timeLimit(.minutes(10))) struct LoopTurnsTests {
  @Test("one after the other, in the order in which they came")
  func order() {
    let loop = EmbeddedEventLoop()
    let turns = LoopTurns(loop: loop)
    let begun = Mutex<[Int]>([])
    #expect(!turns.isBusy)
    for number in 0..<3 { turns.enqueue { begun.withLock { $0.append(number) } } }
    #expect(turns.isBusy && begun.withLock { $0 } == [])
    for number in 0..<3 {
      loop.advanceTime(by: LoopTurns.pause)
      #expect(begun.withLock { $0 } == Array(0...number))
    }
    #expect(!turns.isBusy)
  }

  @Test("sockets are polled between two turns, however long each takes")
  func polls() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let turns = LoopTurns(loop: group.next())
    let pipe = Pipe()
    let mark = ReadMark()
    let output = pipe.fileHandleForWriting.fileDescriptor
    let input = dup(pipe.fileHandleForReading.fileDescriptor)
    let channel = try await NIOPipeBootstrap(group: group).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(ReadMarker(mark))
      }
    }.takingOwnershipOfDescriptor(input: input).get()
    let counts = await withTaskGroup(of: Int.self) { tasks in
      for _ in 0..<3 {
        tasks.addTask {
          let writing = FileHandle(fileDescriptor: output)
          for turn in 0..<1_000 {
            await turns.next()
            if mark.isSet.load(ordering: .relaxed) { return turn }
            try? writing.write(contentsOf: Data([1]))
            // The work of a turn, which takes longer than the pause before the next one.
            await withCheckedContinuation { continuation in
              group.next().execute {
                let end = NIODeadline.now() + LoopTurns.pause + LoopTurns.pause
                while NIODeadline.now() < end {}
                continuation.resume()
              }
            }
          }
          return 1_000
        }
      }
      return await tasks.reduce(into: []) { $0.append($1) }
    }
    #expect(counts.allSatisfy { $0 < 10 }, "\(counts)")
    withExtendedLifetime(pipe) {}
    try await channel.close()
    try await group.shutdownGracefully()
  }
}

private final class ReadMark: Sendable {
  let isSet = Atomic(false)
}

private final class ReadMarker: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let mark: ReadMark

  init(_ mark: ReadMark) { self.mark = mark }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    mark.isSet.store(true, ordering: .relaxed)
  }
}
