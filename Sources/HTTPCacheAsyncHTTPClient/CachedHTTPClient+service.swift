#if AsyncHTTPClient
  public import ServiceLifecycle

  extension CachedHTTPClient: Service {
    /// Waits for the graceful shutdown of its service group, or until its task is cancelled, and then calls
    /// `shutdown(within:)`. The cache stays open: other clients may use it.
    ///
    /// ```swift
    /// let app = Application(responder: responder, services: [client])
    /// ```
    ///
    /// A group ends its services in reverse order: name the client before the services that use it. Hummingbird ends
    /// its server first.
    ///
    /// - Throws: as `shutdown(within:)`.
    public func run() async throws {
      do { try await gracefulShutdown() } catch {
        // A cancelled task shuts the client down, too.
      }
      try await shutdown()
    }
  }
#endif
