import Synchronization

/// A statement that is run often. A connection finds the prepared statement by `number`, without comparing SQL text.
struct FrequentStatement: Sendable {
  let sql: String
  let number: Int

  private static let count = Atomic<Int>(0)

  /// - Parameter sql: one statement. Make it once and keep it: each connection reserves a place for each number.
  init(_ sql: String) {
    self.sql = sql
    number = Self.count.add(1, ordering: .relaxed).oldValue
  }
}
