/// A number as a type.
///
/// Foundation makes the instances of a protocol and gets only its class. So each cache has a class: one
/// generic class over these types, made while the program runs.
protocol ProtocolSlot {
  static var number: Int { get }
}

enum SlotZero: ProtocolSlot {
  static var number: Int { 0 }
}

enum SlotEven<Half: ProtocolSlot>: ProtocolSlot {
  static var number: Int { Half.number * 2 }
}

enum SlotOdd<Half: ProtocolSlot>: ProtocolSlot {
  static var number: Int { Half.number * 2 + 1 }
}

/// The protocol class of one cache.
final class CachingURLProtocolInSlot<Slot: ProtocolSlot>: CachingURLProtocol {
  override class var slot: Int? { Slot.number }

  /// The class for a number, which must not be negative.
  static func ofNumber(_ number: Int) -> CachingURLProtocol.Type where Slot == SlotZero {
    func ofSlot<Other: ProtocolSlot>(_ slot: Other.Type) -> CachingURLProtocol.Type {
      CachingURLProtocolInSlot<Other>.self
    }
    return ofSlot(slot(of: number))
  }

  private static func slot(of number: Int) -> any ProtocolSlot.Type {
    guard number > 0 else { return SlotZero.self }
    func doubled<Half: ProtocolSlot>(_ half: Half.Type) -> any ProtocolSlot.Type {
      number & 1 == 0 ? SlotEven<Half>.self : SlotOdd<Half>.self
    }
    return doubled(slot(of: number >> 1))
  }
}
