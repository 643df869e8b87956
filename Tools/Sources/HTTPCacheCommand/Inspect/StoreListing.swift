import HTTPCaching

/// Walks through the entries of a store.
enum StoreListing {
  /// Calls `body` with each entry of a selection, page by page, until it returns false.
  ///
  /// - Parameters:
  ///   - mode: only entries of this mode; nil for all.
  ///   - includesSealed: whether to include entries that the store cannot open. Their names are digests.
  static func each(
    of store: some CacheStore, _ selection: CacheSelection, mode: CacheMode?, includesSealed: Bool = false,
    _ body: (CacheEntry) throws -> Bool
  ) async throws {
    var cursor: EntryCursor?
    repeat {
      let page: EntryPage
      do {
        page = try await store.entries(selection, after: cursor, limit: 500)
      } catch {
        throw ExitStatus.reporting(error)
      }
      for entry in page.entries
      where (mode == nil || entry.record.key.mode == mode)
        && (includesSealed || !entry.record.key.target.hasPrefix("sealed-"))
      {
        guard try body(entry) else { return }
      }
      cursor = page.next
    } while cursor != nil
  }

  /// The entries of one URL.
  ///
  /// - Parameter servers: the servers of the directory.
  /// - Throws: `ExitCode` after a message if there are none, or the rules of the URL's server are unknown.
  static func entries(
    of url: TargetURL, in store: some CacheStore, _ location: CacheLocation, _ servers: DirectoryServers
  ) async throws -> [CacheEntry] {
    var entries: [CacheEntry] = []
    for target in try ExitStatus.reportingUsage({ try servers.targets(of: url) }) {
      try await each(of: store, .target(target), mode: location.listedMode) { entry in
        entries.append(entry)
        return true
      }
    }
    guard !entries.isEmpty else {
      let hint = await location.hint(for: .target(url.normalized), in: store)
      Console.report(
        "httpcache: nothing is stored for \(url.normalized) in \(location.path)\(hint.map { "; " + $0 } ?? "")"
      )
      throw ExitStatus.failure.code
    }
    return entries
  }
}
