/// Identifies a file at a destination. The values differ for any other file, and after a change of the file.
struct PlacedFile: Sendable, Hashable {
  let inode: UInt64
  let size: Int64
  let seconds: Int64
  let nanoseconds: Int64
}
