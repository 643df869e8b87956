import HTTPTypes

extension HTTPField {
  /// The value as text, for JSON. A value that is not UTF-8 is read as ISO 8859-1.
  var text: String {
    withUnsafeBytesOfValue { bytes in
      String(validating: bytes, as: UTF8.self)
        ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
  }
}
