import HTTPCacheSemantics
import HTTPCacheStore

/// Decoded images by their names. The sum of their bytes stays within the capacity: the oldest image goes, but one that
/// was used since it was looked at last goes to the end of the line once more. A use costs one write; the order of the
/// last uses would cost six.
struct MemoryImages: Sendable {
  private struct Slot {
    var name: ImageName?
    var entry: MemoryImage?
    var isUsed = false
    var older: Int
    var newer: Int
  }

  /// The maximum number of bytes of all images.
  private(set) var capacity: Int
  /// The number of bytes of all images.
  private(set) var cost = 0
  private var places: [ImageName: Int] = [:]
  /// A ring in the order of the line. Slot 0 has no image: `newer` of it is the oldest one, `older` the newest.
  private var slots = [Slot(older: 0, newer: 0)]
  private var free: [Int] = []

  init(capacity: Int) { self.capacity = max(capacity, 0) }

  /// The number of images.
  var count: Int { places.count }

  /// The image of a name if it may be used at once, and counts this as a use.
  mutating func hit(_ name: ImageName, now: Timestamp, mark: StoreMark) -> DecodedImage? {
    guard let place = places[name], let entry = slots[place].entry, let until = entry.freshUntil, now < until,
      entry.mark == mark
    else { return nil }
    slots[place].isUsed = true
    return entry.image
  }

  /// The entry of a name; counts this as a use.
  mutating func entry(_ name: ImageName) -> MemoryImage? {
    guard let place = places[name] else { return nil }
    slots[place].isUsed = true
    return slots[place].entry
  }

  /// Adds or replaces an image. An image above the capacity is not kept.
  mutating func insert(_ entry: MemoryImage, _ name: ImageName) {
    remove(name)
    guard entry.image.cost <= capacity else { return }
    trim(to: capacity - entry.image.cost)
    let place: Int
    if let last = free.popLast() {
      place = last
    } else {
      place = slots.count
      slots.append(Slot(older: 0, newer: 0))
    }
    slots[place] = Slot(name: name, entry: entry, older: 0, newer: 0)
    places[name] = place
    cost += entry.image.cost
    link(place)
  }

  /// Removes an image.
  mutating func remove(_ name: ImageName) {
    guard let place = places.removeValue(forKey: name) else { return }
    cost -= slots[place].entry?.image.cost ?? 0
    unlink(place)
    slots[place] = Slot(older: 0, newer: 0)
    free.append(place)
  }

  /// Removes images until at most `bytes` are in use.
  mutating func trim(to bytes: Int) {
    while cost > bytes, let oldest = slots[slots[0].newer].name {
      let place = slots[0].newer
      guard slots[place].isUsed else {
        remove(oldest)
        continue
      }
      slots[place].isUsed = false
      unlink(place)
      link(place)
    }
  }

  /// Changes the capacity.
  mutating func setCapacity(_ bytes: Int) {
    capacity = max(bytes, 0)
    trim(to: capacity)
  }

  private mutating func link(_ place: Int) {
    let newest = slots[0].older
    slots[place].older = newest
    slots[place].newer = 0
    slots[newest].newer = place
    slots[0].older = place
  }

  private mutating func unlink(_ place: Int) {
    let (older, newer) = (slots[place].older, slots[place].newer)
    slots[older].newer = newer
    slots[newer].older = older
  }
}

/// A decoded image in memory, and what tells that it is still the picture of its URL. A class, because a copy of a
/// struct would count a reference for each part of the record at each look-up.
final class MemoryImage: Sendable {
  let image: DecodedImage
  /// The hash of the bytes that it was decoded from.
  let digest: UInt64
  /// The stored response that it was decoded from; nil if unknown.
  let record: CacheRecord?
  /// Until when the response is fresh; nil if it has to be looked up at each use.
  let freshUntil: Timestamp?
  /// The state of the store when the response was last looked up.
  let mark: StoreMark

  init(image: DecodedImage, digest: UInt64, record: CacheRecord?, freshUntil: Timestamp?, mark: StoreMark) {
    self.image = image
    self.digest = digest
    self.record = record
    self.freshUntil = freshUntil
    self.mark = mark
  }

  /// The image after its response was looked up again.
  func confirmed(until freshUntil: Timestamp, mark: StoreMark) -> MemoryImage {
    MemoryImage(image: image, digest: digest, record: record, freshUntil: freshUntil, mark: mark)
  }
}
