import HTTPCacheLibC
import HTTPCacheSemantics

/// Folders of the user that runs this process.
enum UserFolder {
  /// The folder for caches; nil for a user without a home directory.
  static var caches: String? {
    #if canImport(Darwin)
      return home.map { $0 + "/Library/Caches" }
    #else
      // A relative path must be ignored (XDG Base Directory Specification).
      if let folder = variable("XDG_CACHE_HOME"), folder.hasPrefix("/") { return folder }
      return home.map { $0 + "/.cache" }
    #endif
  }

  /// Makes one path component of any text.
  static func component(_ text: String) -> String {
    let allowed = text.utf8.map {
      $0.isLetter || $0.isDigit || ".-".utf8.contains($0) ? $0 : UInt8(ascii: "_")
    }
    let name = String(decoding: allowed.prefix(200), as: UTF8.self)
    return name.isEmpty || name.hasPrefix(".") ? "_" + name : name
  }

  private static var home: String? {
    if let folder = variable("HOME"), folder.hasPrefix("/") { return folder }
    guard let entry = getpwuid(getuid()), let folder = entry.pointee.pw_dir else { return nil }
    let path = String(cString: folder)
    return path.hasPrefix("/") ? path : nil
  }

  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    let text = String(cString: value)
    return text.isEmpty ? nil : text
  }
}
