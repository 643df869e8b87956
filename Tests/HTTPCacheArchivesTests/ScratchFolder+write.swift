import Foundation
import HTTPCacheStore
import HTTPCacheTesting

extension ScratchFolder {
  /// Writes a file, and makes its folders.
  @discardableResult
  func write(
    _ name: String, _ text: String, modified: Date? = Date(timeIntervalSince1970: 1_600_000_000)
  ) throws -> URL {
    let file = URL(fileURLWithPath: path(name))
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    if let modified {
      try FileManager.default.setAttributes([.modificationDate: modified], ofItemAtPath: file.path)
    }
    return file
  }
}

extension SeedSource {
  /// The body of the first response for a target; nil if there is none.
  func text(_ target: String) async throws -> String? {
    guard let seed = try responses(to: target).first else { return nil }
    return try await seed.text()
  }
}

extension SeedResponse {
  func text() async throws -> String {
    let bytes = try await body.open().read(0..<bodyLength)
    return String(decoding: bytes.array, as: UTF8.self)
  }
}
