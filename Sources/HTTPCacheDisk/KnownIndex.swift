/// What the writing connection knows of the index, as long as no other connection writes.
struct KnownIndex: Sendable {
  var state: IndexState
  /// Bytes that may still be added before anybody has to look at how large the database is. Counted down by
  /// the most that an entry can take, so that it is never too much.
  var room: Int64
  /// What the room was counted for.
  let capacity: Int64
}
