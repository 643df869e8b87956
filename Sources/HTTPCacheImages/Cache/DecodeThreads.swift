import Dispatch

/// Runs work that keeps a thread busy outside of Swift's own threads, which other tasks need.
enum DecodeThreads {
  private static let queue = DispatchQueue(label: "HTTPCacheImages", attributes: .concurrent)

  static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try body() }) }
    }
  }
}
