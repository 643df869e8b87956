import Foundation
import HTTPCacheStore
import HTTPCacheTesting

@testable import HTTPCacheArchives

/// Tests of recordings that are written record by record.
protocol RecordingTests {
  var folder: ScratchFolder { get }
}

extension RecordingTests {
  func seed(_ records: String..., name: String = "a.warc") throws -> RecordingSeed {
    try seed(Data(records.joined().utf8), name)
  }

  func seed(_ bytes: Data, _ name: String) throws -> RecordingSeed {
    let path = folder.path + "/" + name
    try bytes.write(to: URL(fileURLWithPath: path))
    return try RecordingSeed(path: path)
  }

  func record(
    _ type: String, id: String, to url: String = "https://example.com/a",
    date: String = "2020-09-13T12:26:40Z",
    content: String? = nil, rest: String = "", _ block: String
  ) -> String {
    "WARC/1.1\r\nWARC-Type: \(type)\r\nWARC-Record-ID: <urn:\(id)>\r\nWARC-Target-URI: \(url)\r\n"
      + "WARC-Date: \(date)\r\n" + (content.map { "Content-Type: \($0)\r\n" } ?? "") + rest
      + "Content-Length: \(block.utf8.count)\r\n\r\n\(block)\r\n\r\n"
  }

  func http(_ body: String, status: String = "200 OK", fields: String = "") -> String {
    "HTTP/1.1 \(status)\r\nContent-Type: text/plain\r\n\(fields)\r\n\(body)"
  }

  var message: String { "application/http; msgtype=response" }
}

extension Data {
  /// The bytes as one member of gzip.
  var gzipped: Data {
    get throws {
      let deflation = try Deflation()
      return Data(deflation.encode(BodyBytes(self), isLast: true))
    }
  }
}
