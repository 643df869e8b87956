import Synchronization

/// A statement that is run often: a connection finds what it prepared of it by its number, without
/// looking at its text.
struct FrequentStatement: Sendable {
  let sql: String
  let number: Int

  private static let count = Atomic<Int>(0)

  /// - Parameter sql: one statement. To be made once and kept, since each connection keeps a place for it.
  init(_ sql: String) {
    self.sql = sql
    number = Self.count.add(1, ordering: .relaxed).oldValue
  }
}
