extension String {
  /// Joins texts in one piece of memory. Interpolation makes several, and each request has a few such texts.
  init(joining parts: [String]) {
    let count = parts.reduce(0) { $0 + $1.utf8.count }
    self.init(unsafeUninitializedCapacity: count) { buffer in
      var end = 0
      for var part in parts {
        part.withUTF8 { octets in
          _ = UnsafeMutableBufferPointer(rebasing: buffer[end...]).update(fromContentsOf: octets)
          end += octets.count
        }
      }
      return end
    }
  }
}
