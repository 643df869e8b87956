/// Samples of 8 bits of one channel.
struct HEIFPlane {
  let size: ImageSize
  private(set) var samples: [UInt8]

  /// The plane in another size: the nearest sample of each place.
  func scaled(to target: ImageSize) -> HEIFPlane {
    guard target != size else { return self }
    var samples: [UInt8] = []
    samples.reserveCapacity(target.width * target.height)
    for y in 0..<target.height {
      let row = y * size.height / target.height * size.width
      for x in 0..<target.width { samples.append(self.samples[row + x * size.width / target.width]) }
    }
    return HEIFPlane(size: target, samples: samples)
  }

  /// Replaces the samples from a place on; those beyond this plane are left out.
  mutating func paste(_ other: HEIFPlane, x: Int, y: Int) {
    let columns = max(0, min(other.size.width, size.width - x))
    for row in 0..<max(0, min(other.size.height, size.height - y)) {
      let (from, to) = (row * other.size.width, (y + row) * size.width + x)
      samples.replaceSubrange(to..<to + columns, with: other.samples[from..<from + columns])
    }
  }
}
