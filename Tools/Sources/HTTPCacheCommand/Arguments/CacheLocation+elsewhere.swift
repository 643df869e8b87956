import Foundation
import HTTPCaching

/// Finds responses in the user's other cache, to remind a user of a forgotten `--shared` or `--private`.
extension CacheLocation {
  /// A cache other than the one of the command.
  struct OtherPlace {
    let path: String
    let mode: CacheMode
    /// The option that selects that cache, such as `--shared`.
    var option: String { "--\(mode)" }
  }

  /// The other of the user's two caches; nil if it does not exist, or with `--dir`.
  var otherPlace: OtherPlace? {
    guard directory == nil else { return nil }
    let mode: CacheMode = mode == .shared ? .private : .shared
    let path = Self.defaultDirectory(mode: mode, environment: ProcessInfo.processInfo.environment)
    guard FileManager.default.fileExists(atPath: path + "/Cache.db") else { return nil }
    return OtherPlace(path: path, mode: mode)
  }

  /// Says that matching responses are in the user's other cache, or in this directory under the other mode
  /// (private or shared). nil if there are none.
  ///
  /// - Parameter store: the store of this location.
  func hint(for selection: CacheSelection, in store: some CacheStore) async -> String? {
    if directory != nil, modeFlag != nil {
      let other: CacheMode = mode == .shared ? .private : .shared
      guard await Self.holds(selection, of: other, store) else { return nil }
      return "the directory has it as a \(other) cache (--\(other))"
    }
    guard let place = otherPlace,
      let store = try? DiskStore.open(directory: place.path, options: DiskStore.Options(evicts: false)),
      await Self.holds(selection, of: place.mode, store)
    else { return nil }
    return "the \(place.mode) cache in \(place.path) has it (\(place.option))"
  }

  /// The modes (private, shared) of the matching responses in a store.
  static func modes(of selection: CacheSelection, in store: some CacheStore) async -> [CacheMode] {
    var modes: [CacheMode] = []
    for mode in CacheMode.allCases where await holds(selection, of: mode, store) { modes.append(mode) }
    return modes
  }

  private static func holds(
    _ selection: CacheSelection, of mode: CacheMode, _ store: some CacheStore
  ) async -> Bool {
    var cursor: EntryCursor?
    repeat {
      guard let page = try? await store.entries(selection, after: cursor, limit: 500) else { return false }
      if page.entries.contains(where: { $0.record.key.mode == mode }) { return true }
      cursor = page.next
    } while cursor != nil
    return false
  }
}
