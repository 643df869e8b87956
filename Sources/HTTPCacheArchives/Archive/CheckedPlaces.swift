import Synchronization

/// The blocks of an open archive that were checked, by their places in the file.
final class CheckedPlaces: Sendable {
  private let places = Mutex<Set<Int64>>([])

  func insert(_ place: Int64) { _ = places.withLock { $0.insert(place) } }

  /// Whether all of these blocks were checked.
  func contain(_ new: some Sequence<Int64>) -> Bool {
    places.withLock { places in new.allSatisfy(places.contains) }
  }
}
