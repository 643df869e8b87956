/// The name of an image. It is hashed once, so that a look-up does not hash its URL.
struct ImageName: Hashable, Sendable {
  let text: String
  private let hash: Int

  init(_ text: String) {
    self.text = text
    hash = text.hashValue
  }

  func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
