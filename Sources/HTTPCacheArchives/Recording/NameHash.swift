/// Stands for a name of a recording, so that many long names take little memory. It is made under a secret of this process,
/// so that no recording has two names with one hash.
struct NameHash: Hashable {
  private let first: Int
  private let second: Int

  init(_ name: String) {
    var hasher = Hasher()
    hasher.combine(name)
    first = hasher.finalize()
    hasher = Hasher()
    hasher.combine(1)
    hasher.combine(name)
    second = hasher.finalize()
  }
}
