public import HTTPTypes

/// Why no stored response could be used.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum MissReason: Reason, Hashable {
  /// Nothing is stored for the key.
  case absent
  /// Responses are stored, but for other values of the nominated fields (§4.1).
  case variantMismatch([HTTPField.Name])
  /// The method cannot be answered from the store (§4).
  case method(HTTPRequest.Method)
  /// The request's policy forbids it.
  case policy(CachePolicy)
  /// The request has a precondition that only the origin can evaluate (RFC 9110 §13.1.1, §13.1.4).
  case precondition(HTTPField.Name)
  /// The content of a QUERY cannot be part of a key (RFC 10008 §2.7).
  case content(ContentObstacle)
  /// The stored octets do not include the part that the request asks for (§3.3).
  case partial
  /// The store could not be read; an event tells why.
  case storeFailed
}
