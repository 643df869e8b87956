import HTTPCacheLibC

/// Writes a line without buffering, so that it is not lost if the process is killed afterwards.
func say(_ text: String) {
  let line = Array((text + "\n").utf8)
  var done = 0
  while done < line.count {
    let count = line.withUnsafeBytes { write(1, $0.baseAddress.map { $0 + done }, $0.count - done) }
    guard count > 0 else { return }
    done += count
  }
}
