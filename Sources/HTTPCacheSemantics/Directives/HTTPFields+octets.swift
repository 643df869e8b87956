import HTTPTypes

extension HTTPFields {
  /// The octets of all lines of a field as one list (RFC 9110 §5.3), for structured fields.
  func combinedOctets(_ name: HTTPField.Name) -> [UInt8] {
    var value: [UInt8] = []
    for field in self where field.name == name {
      if !value.isEmpty { value.append(UInt8(ascii: ",")) }
      field.withUnsafeBytesOfValue { value.append(contentsOf: $0) }
    }
    return value
  }
}
