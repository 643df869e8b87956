import Foundation
import HTTPCacheTesting
import HTTPCaching

@testable import HTTPCacheDownloads

/// A destination and the part beside it, in a folder.
class PartDestination {
  let folder: ScratchFolder
  var file: String { path("file") }
  var part: String { path("file.httpcache-part") }

  init() throws { folder = try ScratchFolder() }

  func path(_ name: String) -> String { folder.url(name).path }

  func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  func text(_ path: String) -> String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }

  func names() throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
  }

  /// Leaves a part with bytes, as a killed process does.
  func leave(_ text: String, _ change: (PartFile) async throws -> Void = { _ in }) async throws {
    let part = try PartFile(beside: file)
    try part.begin(PartRecord.sample())
    try await part.append(BodyBytes(Array(text.utf8)))
    try await change(part)
  }
}
