public import HTTPTypes

/// The head of a response that comes from a store.
public enum ResponseHead {
  /// The stored head with the current age (RFC 9111 §4, §5.1); everything else is passed on.
  ///
  /// - Parameters:
  ///   - stored: the stored response.
  ///   - age: its current age in seconds.
  public static func fromStore(_ stored: StoredResponse, age: Int64) -> HTTPResponse {
    var head = stored.head
    head.headerFields[.age] = String(max(0, age))
    return head
  }
}
