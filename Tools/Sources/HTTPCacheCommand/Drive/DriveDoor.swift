import HTTPCaching

/// A way into the cache that the driver takes: what turns a line of its input into a request of some
/// library, and the answer back.
protocol DriveDoor: Sendable {
  /// Performs a request and reads its response to the end. Redirects are not followed.
  ///
  /// - Throws: `DriveRequest.Invalid` for a line that cannot be performed, `UpstreamError` if the
  ///   origin had to be asked and failed, and what else goes wrong.
  func reply(to drive: DriveRequest) async throws -> DriveReply

  /// Lets go of connections, and writes what is batched.
  func close() async throws
}
