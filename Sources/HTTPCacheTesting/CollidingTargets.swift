/// Targets with equal XXH64 hashes under the seed 0, as an attacker finds them. A hash table without a secret
/// would put all of them into one bucket.
///
/// XXH64 takes 32 bytes at a time into four independent lanes of 8 bytes. Two consecutive words of a lane can
/// be replaced by two others that leave the lane in an equal state: the first is chosen, the second computed,
/// until it contains only characters of a URL. Each of the 16 pairs here was found in this way, in four
/// blocks of 64 bytes. Each choice of one side of each pair gives a target.
package enum CollidingTargets {
  /// 32 bytes, so that the first block begins with a stripe of XXH64.
  private static let prefix = "https://example.com/aaaaaaaaaaaa"

  /// Four blocks of four lanes: both words of the lane, in either form.
  private static let pairs = [
    ("frrJAYS1tnkrJdK7", "1VR-kVbZn_Jh3CQl"),
    ("upxEJ_BM3SHmVAV2", "EbqQBJE1GJsm4~q1"),
    ("tG_DeLG.Px8ZZcXE", "Hp7T.H~zVt6lDIK1"),
    (".LDX6Sz_6Ea.6Wu9", "64-g2IB0A0fkS_Q5"),
    ("a0bn-MH1Ux9RAT1u", "BUBnA459xAD0EXyB"),
    ("h2UKCMczb-2jfAkL", "GxjsqPp-30~O-R1M"),
    ("h0wbQ9vSj87TjUZ3", "PrZ6QP6wEPU0GpBv"),
    ("UoRwUGRI6.0P5ZNL", "xxWvw5SNvyOV_eHu"),
    (".UJkT4euCo9hLnls", "~ugg1ApUukPHdJ5K"),
    ("TfG86reM0ELCNbTq", "vNNRfXTISA~Xq77A"),
    ("OKwdju2f.G66VO3D", "i8iPe2SC_tWDCzur"),
    ("eppVFRym.PZvOKN6", "3rumtENoPsXa3OmC"),
    ("Br8h267moOCuorN5", "Tvb-_EP4fe3e6V2j"),
    ("Cd.6tyUoYlJ8J9gG", "t~Kc0PEf9wcIONN1"),
    ("g_mzKlyV38gol3dw", "Nh4nYLN_K5qtGrBw"),
    ("4EVxk5rJBoXB~jJW", "ZurZSIOk-qgwqrBV"),
  ]

  /// A target of 288 bytes.
  ///
  /// - Parameter index: bit n chooses the side of pair n.
  package static func target(_ index: Int) -> String {
    let lanes = pairs.enumerated().map { number, pair in
      Array((index >> number & 1 == 0 ? pair.0 : pair.1).utf8)
    }
    var bytes = Array(prefix.utf8)
    for block in stride(from: 0, to: lanes.count, by: 4) {
      for word in 0..<2 {
        for lane in block..<block + 4 { bytes += lanes[lane][8 * word..<8 * word + 8] }
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
