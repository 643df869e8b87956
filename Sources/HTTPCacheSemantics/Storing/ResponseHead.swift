public import HTTPTypes

/// The head of a response that comes from a store.
public enum ResponseHead {
  /// The stored head with the current age (RFC 9111 §4, §5.1).
  ///
  /// - Parameters:
  ///   - stored: the stored response.
  ///   - age: its current age in seconds.
  public static func fromStore(_ stored: StoredResponse, age: Int64) -> HTTPResponse {
    var head = stored.head
    let field = HTTPField(name: .age, value: String(max(0, age)))
    guard let index = head.headerFields.firstIndex(of: .age) else {
      // Reserve the size first, so that the fields are copied once.
      head.headerFields.reserveCapacity(head.headerFields.count + 1)
      // bounded: one field of a stored head.
      head.headerFields.append(field)
      return head
    }
    guard head.headerFields.firstIndex(of: .age, from: index + 1) == nil else {
      head.headerFields[fields: .age] = [field]
      return head
    }
    head.headerFields[index] = field
    return head
  }
}
