import HTTPCacheProxy
import NIOCore

extension ServeCommand {
  /// Begins to listen for admin requests; nil without `--admin`.
  ///
  /// - Throws: `ExitCode` after a message.
  func startAdmin(
    _ routes: AdminRoutes, _ access: AdminAccess, _ group: any EventLoopGroup, _ file: ServeFile?
  ) async throws -> AdminServer? {
    guard let address = admin.admin else { return nil }
    do {
      return try await AdminServer.start(
        host: address.host, port: address.port, access: access, group: group
      ) { await routes.answer($0) }
    } catch {
      throw StartFailure(listening: address, error).located(in: file).reported()
    }
  }
}
