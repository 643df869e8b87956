/// Removes the chunked transfer coding (RFC 9112 §7.1) from the body of a recording, piece by piece.
///
/// Not the decoder of the proxy: that one refuses what another reader may frame differently, and this one reads what
/// some crawler has written, with line feeds alone, or without the coding that the field names.
struct ChunkedPieces {
  private enum State {
    case size
    case data(Int64)
    case dataEnd
    case trailers
    case ended
  }

  private var state = State.size
  private var line: [UInt8] = []
  /// Whether a whole chunk has come: its size, its data and the line end behind them.
  private(set) var hasChunk = false

  /// Whether the last chunk has come.
  var isEnded: Bool { if case .ended = state { true } else { false } }

  /// Decodes a piece; nil if it is not chunked.
  mutating func decode(_ piece: ArraySlice<UInt8>) -> [UInt8]? {
    var (rest, output) = (piece, [UInt8]())
    while !rest.isEmpty {
      switch state {
      case .data(let left):
        let data = rest.prefix(Int(min(left, Int64(rest.count))))
        output.append(contentsOf: data)
        rest = rest.dropFirst(data.count)
        state = left == Int64(data.count) ? .dataEnd : .data(left - Int64(data.count))
      case .size, .dataEnd, .trailers:
        guard takeLine(&rest) else { return line.count <= 16 << 10 && isPlausible ? output : nil }
        guard endLine() else { return nil }
      case .ended: return output
      }
    }
    return output
  }

  /// Whether the start of a line may be that of a line in the coding.
  private var isPlausible: Bool {
    switch state {
    case .size: line.isEmpty || size != nil
    case .dataEnd: line.isEmpty || line == [0x0D]
    case .data, .trailers, .ended: true
    }
  }

  /// The size that the line begins with; nil if it does not. White space and an extension may follow the digits (RFC 9112
  /// §7.1.1): other octets are those of a text, such as `a{color:red}` or `Bad Request`.
  private var size: Int64? {
    let digits = line.prefix { Character(Unicode.Scalar($0)).isHexDigit }
    let next = line[digits.endIndex...].first { $0 != 0x20 && $0 != 0x09 }
    guard next == nil || next == UInt8(ascii: ";") || next == 0x0D else { return nil }
    return Int64(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  /// Takes bytes of a line; false if it goes on in the next piece.
  private mutating func takeLine(_ rest: inout ArraySlice<UInt8>) -> Bool {
    guard let end = rest.firstIndex(of: 0x0A) else {
      line.append(contentsOf: rest)
      rest = []
      return false
    }
    line.append(contentsOf: rest[..<end])
    rest = rest[(end + 1)...]
    if line.last == 0x0D { line.removeLast() }
    return true
  }

  private mutating func endLine() -> Bool {
    defer { line.removeAll(keepingCapacity: true) }
    switch state {
    case .size:
      guard let size else { return false }
      state = size == 0 ? .trailers : .data(size)
    case .dataEnd:
      guard line.isEmpty else { return false }
      (state, hasChunk) = (.size, true)
    case .trailers: if line.isEmpty { state = .ended }
    case .data, .ended: break
    }
    return true
  }
}
