// Linked with libFuzzer and HTTPCacheFuzzing by scripts/fuzz.sh.
import Glibc
import HTTPCacheFuzzing

private let target: FuzzTarget = {
  guard let name = getenv("FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name)) else {
    print("FUZZ_TARGET is not set to one of \(FuzzTarget.allCases.map(\.rawValue))")
    exit(2)
  }
  return target
}()

/// The function that libFuzzer calls for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
  do {
    try target.run(UnsafeRawBufferPointer(start: start, count: count))
  } catch {
    // Do not use `print`: buffered output would be lost.
    let text = Array("violated: \(error)\n".utf8)
    write(STDERR_FILENO, text, text.count)
    abort()
  }
  return 0
}
