/// The result of updating a stored response with a newer head (RFC 9111 §3.2).
package struct ResponseUpdate: Sendable {
  /// The response to store instead.
  package var stored: StoredResponse
  /// The response that answers the validated request, including fields that must not be stored.
  package var answer: StoredResponse
}
