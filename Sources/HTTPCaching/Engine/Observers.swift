/// The configured observer and the watches of entries, which are told of events.
struct Observers: Sendable {
  let observer: (any CacheObserver)?
  let watches = EntryWatches()

  func tell(_ event: @autoclosure () -> CacheEvent) {
    guard observer != nil || !watches.isEmpty else { return }
    let event = event()
    observer?.observe(event)
    watches.tell(event)
  }
}
