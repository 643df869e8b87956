/// When the checksums of stored blocks are checked.
public enum Verification: Sendable, Hashable {
  /// On a block's first read after the body was opened.
  case firstRead
  /// On every read.
  case everyRead
}
