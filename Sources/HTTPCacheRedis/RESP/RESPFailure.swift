/// Bytes that are no reply, or a reply beyond the limits.
struct RESPFailure: Error, Hashable {
  /// The fault.
  let message: String

  init(_ message: String) { self.message = message }
}
