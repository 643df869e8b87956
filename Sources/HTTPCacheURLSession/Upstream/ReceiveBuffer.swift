import Foundation
import HTTPCaching

/// What has arrived and nobody has read yet.
struct ReceiveBuffer {
  private var chunks: [Data] = []
  private var first = 0
  /// Bytes that nobody has read.
  private(set) var count = 0

  mutating func append(_ data: Data) {
    guard !data.isEmpty else { return }
    chunks.append(data)
    count += data.count
  }

  /// Takes at least one chunk, and more as long as all together are no longer than `limit`; empty if
  /// nothing is there.
  mutating func take(upTo limit: Int) -> [Data] {
    var taken: [Data] = []
    var size = 0
    while first < chunks.count {
      let chunk = chunks[first]
      guard taken.isEmpty || size + chunk.count <= limit else { break }
      taken.append(chunk)
      size += chunk.count
      chunks[first] = Data()
      first += 1
    }
    count -= size
    if first == chunks.count || first > 1024 {
      chunks.removeFirst(first)
      first = 0
    }
    return taken
  }

  mutating func removeAll() { self = ReceiveBuffer() }
}

extension BodyBytes {
  /// Copies chunks into one piece.
  init(_ chunks: [Data]) {
    let size = chunks.reduce(0) { $0 + $1.count }
    self.init(unsafeUninitializedCapacity: size) { buffer in
      var rest = buffer[...]
      for chunk in chunks {
        chunk.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: rest.prefix(chunk.count)))
        rest = rest.dropFirst(chunk.count)
      }
      return size
    }
  }
}
