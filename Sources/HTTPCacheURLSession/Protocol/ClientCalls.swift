import Dispatch

/// Calls a protocol's client where Foundation expects it: on Linux on the queue of the task, on Apple's
/// systems on the thread that started the protocol.
struct ClientCalls: @unchecked Sendable {
  // @unchecked Sendable because a queue and a run loop may be given work from any thread.

  #if canImport(FoundationNetworking)
    private let queue: DispatchQueue

    init(_ surroundings: TaskSurroundings) {
      queue = surroundings.queue ?? DispatchQueue(label: "swift-http-cache.protocol")
    }

    func perform(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
  #else
    private let runLoop: CFRunLoop
    private let modes: CFArray

    init(_ surroundings: TaskSurroundings) {
      runLoop = CFRunLoopGetCurrent()
      let current = CFRunLoopCopyCurrentMode(runLoop)
      modes = [current, .defaultMode].compactMap { $0?.rawValue } as CFArray
    }

    func perform(_ work: @escaping @Sendable () -> Void) {
      CFRunLoopPerformBlock(runLoop, modes, work)
      CFRunLoopWakeUp(runLoop)
    }
  #endif
}
