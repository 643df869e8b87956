import Foundation
import HTTPCacheImages
import HTTPCaching

/// Thumbnails of all files of a folder, without cache and network.
enum Thumbnails {
  static func make(from folder: String, to target: String) async throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, name) in names.enumerated() {
        if index >= 2 { try await group.next() }
        group.addTask { try one("\(folder)/\(name)", "\(target)/\(name)") }
      }
      try await group.waitForAll()
    }
  }

  private static func one(_ source: String, _ target: String) throws {
    let bytes = BodyBytes(Array(try Data(contentsOf: URL(fileURLWithPath: source))))
    let processor = ResizeProcessor(width: 256, height: 256)
    let options = ImageDecodingOptions(neededSize: ImageSize(width: 256, height: 192))
    let thumbnail = try processor.process(ImageFormats.standard.decode(bytes, options: options))
    try Data(JPEGEncoder().encode(thumbnail).array).write(to: URL(fileURLWithPath: target))
  }
}
