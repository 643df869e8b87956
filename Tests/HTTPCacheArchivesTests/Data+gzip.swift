import Foundation
import HTTPCacheStore

@testable import HTTPCacheArchives

extension Data {
  /// The bytes as one member of gzip.
  var gzipped: Data {
    get throws {
      let deflation = try Deflation()
      return Data(deflation.encode(BodyBytes(self), isLast: true))
    }
  }
}
