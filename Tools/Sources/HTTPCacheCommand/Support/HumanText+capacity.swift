extension HumanText {
  /// The message that the capacity of the directory changed, and how much is evicted.
  ///
  /// - Parameter usage: bytes in use.
  static func capacityChange(from old: Int64, to new: Int64, usage: Int64) -> String {
    let change = "the capacity of the cache is now \(bytes(new)), it was \(bytes(old))"
    return usage > new ? change + "; \(bytes(usage - new)) of stored responses are evicted" : change
  }
}
