/// What tells a file at a destination from any other, and from itself after a change.
struct PlacedFile: Sendable, Hashable {
  let inode: UInt64
  let size: Int64
  let seconds: Int64
  let nanoseconds: Int64
}
