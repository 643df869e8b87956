import Foundation
import HTTPCacheSemantics
import HTTPCacheStore
import Testing

@testable import HTTPCacheDisk

/// `docs/disk-format.md` describes the actual files.
@Suite(.timeLimit(.minutes(10))) struct FormatDocumentTests {
  private func document() throws -> String {
    let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardizedFileURL
    return try String(contentsOf: root.appendingPathComponent("docs/disk-format.md"), encoding: .utf8)
  }

  @Test("each column of entry is described")
  func columns() throws {
    let table = try document().components(separatedBy: "\n\n").first { $0.hasPrefix("| column |") }
    for column in EntryColumn.allCases {
      let cells = try #require(table).split(separator: "\n").map { $0.split(separator: "|")[0] }
      #expect(cells.contains { $0.contains("`\(column.name)`") }, "\(column.name)")
    }
  }

  @Test("the tables are those of the format; other tables need a higher Schema.indexFormat")
  func tables() throws {
    #expect(Schema.indexFormat == 1)
    #expect(XXH64.hash(Array((Schema.layout + Schema.tables).utf8)) == 10_525_346_580_720_355_239)
    #expect(try document().contains("Format \(Schema.indexFormat)."))
  }

  @Test("the format of a record is described")
  func recordFormat() throws {
    #expect(try document().contains("The format is \(RecordCodec.recordFormat)."))
  }
}
