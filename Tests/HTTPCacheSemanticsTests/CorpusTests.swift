import Foundation
import HTTPCacheFuzzing
import Testing

/// The corpus of the fuzzer (`Fuzzing/Corpus`), its findings included, as ordinary tests.
@Suite(.timeLimit(.minutes(10))) struct CorpusTests {
  @Test("Every file of the corpus keeps the properties of its target", arguments: FuzzTarget.allCases)
  func corpus(target: FuzzTarget) throws {
    let folder = URL(filePath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fuzzing/Corpus/\(target.rawValue)")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 5)
    for file in files {
      let data = try Data(contentsOf: file)
      do {
        try data.withUnsafeBytes { try target.run($0) }
      } catch {
        Issue.record("\(file.lastPathComponent): \(error)")
      }
    }
  }
}
