import Foundation
import HTTPCacheStore
import Testing

@testable import HTTPCacheDisk

/// `docs/disk-format.md` describes the files as they are.
@Suite(.timeLimit(.minutes(10))) struct FormatDocumentTests {
  private func document() throws -> String {
    let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../..").standardizedFileURL
    return try String(contentsOf: root.appendingPathComponent("docs/disk-format.md"), encoding: .utf8)
  }

  @Test("each column of entry is described")
  func columns() throws {
    let tables = Schema.tables
    let start = try #require(tables.range(of: "CREATE TABLE entry (")).upperBound
    let end = try #require(tables.range(of: ");", range: start..<tables.endIndex)).lowerBound
    let columns = tables[start..<end].split(separator: ",").compactMap { $0.split(separator: " ").first }
      .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    #expect(columns.count >= 20)
    let document = try document()
    for column in columns { #expect(document.contains("`\(column)`"), "\(column)") }
  }

  @Test("the highest format of a record is described")
  func recordFormat() throws {
    #expect(try document().contains("or \(RecordCodec.format) for one that has"))
  }
}
