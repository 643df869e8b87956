import HTTPCacheSemantics

/// The targets that encrypted responses have in the store below an encrypting store, which knows them by these
/// beginnings.
package enum SealedTarget {
  /// The beginning of all of them.
  package static let mark = "sealed-"

  /// The beginning of those that a cipher sealed.
  ///
  /// - Parameter keyID: identifies the key of the cipher.
  package static func prefix(ofKey keyID: [UInt8]) -> String { mark + Base64.encodeURL(keyID) + "://" }
}
