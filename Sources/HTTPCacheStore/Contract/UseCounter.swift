/// A store that is told of uses which it did not see.
package protocol UseCounter: AnyObject, Sendable {
  /// Counts uses that were answered without this store. No I/O.
  func recordUses(_ uses: [KeyUses])
}
