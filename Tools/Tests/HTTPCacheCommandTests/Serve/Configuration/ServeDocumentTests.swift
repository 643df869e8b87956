import Foundation
import HTTPCacheSemantics
import Testing

@testable import HTTPCacheCommand

/// The reference and the samples of the configuration file.
@Suite(.timeLimit(.minutes(10))) struct ServeDocumentTests {
  private static let docs = #filePath.components(separatedBy: "/Tools/Tests/")[0] + "/docs"

  @Test("the reference has every key")
  func reference() throws {
    let text = try String(contentsOfFile: Self.docs + "/serve-configuration.md", encoding: .utf8)
    let keys = ServeKey.all.map(\.name) + ServeFile.sections + ServeRoutes.keys + OverrideList.keys
    for key in keys + RuleEffect.Ignored.allCases.map(\.rawValue) {
      #expect(text.contains("`\(key)`"), "\(key)")
    }
  }

  @Test("the samples can be used", arguments: ["mirror", "site", "api", "fleet"])
  func samples(name: String) throws {
    // Without --check: this machine need not have their folders and ports.
    let path = Self.docs + "/samples/\(name).yaml"
    let command = try HTTPCacheCommand.parsedWithFile(["serve", "--config", path]) as? ServeCommand
    _ = try #require(command).modeAndFiles(try ServeFile(path))
  }
}
