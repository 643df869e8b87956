#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Writes a line at once, so that it is there even if the process is killed after it.
func say(_ text: String) {
  let line = Array((text + "\n").utf8)
  var done = 0
  while done < line.count {
    let count = line.withUnsafeBytes { write(1, $0.baseAddress.map { $0 + done }, $0.count - done) }
    guard count > 0 else { return }
    done += count
  }
}
