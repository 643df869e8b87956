public import HTTPCacheStore
public import HTTPCaching

extension HTTPCache {
  /// Writes stored responses as content to ship with a program, or for other tools.
  ///
  /// ```swift
  /// try await cache.export(.prefix("https://www.example.com/"), to: "content.hca")
  /// ```
  ///
  /// Only responses that every user may get are written: complete responses to GET, without partition, credentials
  /// and `Cache-Control: private`, and without secrets.
  ///
  /// - Parameters:
  ///   - selection: the entries.
  ///   - path: the file or folder. An existing file is replaced; a folder must not exist.
  ///   - form: the form; nil is that of the path's extension, and `archive` for another one.
  ///   - secrets: fields and parameters of queries that are not written; by default credentials and cookies.
  /// - Returns: the number of responses written, and of selected entries that were left out.
  /// - Throws: `CacheError.io`, `CacheError.noSpace`, what the store throws.
  @discardableResult
  public func export(
    _ selection: CacheSelection = .all, to path: String, as form: ExportForm? = nil,
    without secrets: RecordingSecrets = RecordingSecrets()
  ) async throws(CacheError) -> (written: Int, leftOut: Int) {
    let source = try await StoreExport(store, selection, mode: configuration.rules.mode, name: path)
    let form = form ?? ExportForm(path: path) ?? .archive
    let stripped = try StrippedSeeds(source, without: secrets)
    return (try await form.write(stripped, to: path), source.leftOut + source.count - stripped.count)
  }
}
