/// A state of what a store holds for a key. Two equal ones taken before and after tell that nothing was
/// replaced, freshened, invalidated or removed for that key in between, by whatever process.
public struct Generation: Sendable, Hashable {
  // Which mapping the counters came from: a new one starts from other numbers.
  let instance: UInt64
  let key: UInt64
  let global: UInt64
}
