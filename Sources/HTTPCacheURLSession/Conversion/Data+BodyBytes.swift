import Foundation
import HTTPCaching

extension Data {
  /// A copy of the bytes.
  init(_ bytes: BodyBytes) { self = bytes.withUnsafeBytes { Data($0) } }
}
