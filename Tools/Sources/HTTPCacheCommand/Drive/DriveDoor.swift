import HTTPCaching

/// A way into the cache: turns a line of input into a request of a library, and the library's response into a
/// reply.
protocol DriveDoor: Sendable {
  /// Performs a request and reads its response to the end. Redirects are not followed.
  ///
  /// - Throws: `DriveRequest.Invalid` for a line that cannot be performed, `UpstreamError` if the
  ///   origin was asked and failed, and other errors of the library.
  func reply(to drive: DriveRequest) async throws -> DriveReply

  /// Closes connections, and writes batched counters.
  func close() async throws
}
