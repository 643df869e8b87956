/// What a newer head makes of a stored response (RFC 9111 §3.2).
package struct ResponseUpdate: Sendable {
  /// What is stored in its place.
  package var stored: StoredResponse
  /// What answers the request that was validated: also with fields that must not be stored.
  package var answer: StoredResponse
}
