// Checks generated exchanges on all processors; linked with HTTPCacheFuzzing by scripts/hostile.sh.
//
// usage: hostile [COUNT [FIRST SEED]]     every exchange has a seed of its own, counted from the first
import Glibc
import HTTPCacheFuzzing

@main
enum Hostile {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    let count = arguments.first.flatMap { Int($0) } ?? 1_000_000
    let first = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 9_111
    let workers = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let (stored, failed) = await withTaskGroup(of: (Int, Bool).self) { group in
      for worker in 0..<workers {
        group.addTask { check(stride(from: worker, to: count, by: workers), from: first) }
      }
      var sum = (stored: 0, failed: false)
      for await (stored, failed) in group { sum = (sum.stored + stored, sum.failed || failed) }
      return sum
    }
    print("\(count) generated header sets, \(stored) of them stored, from seed \(first)")
    // If nearly all responses were refused, little would have been tested.
    exit(failed || stored < count / 4 ? 1 : 0)
  }

  /// Checks the exchanges with these numbers, up to the first that violates a property.
  static func check(_ indices: StrideTo<Int>, from first: UInt64) -> (stored: Int, failed: Bool) {
    var stored = 0
    for index in indices {
      let seed = first &+ UInt64(index)
      var random = Seeded(seed: seed)
      let exchange = HostileExchange(&random)
      do {
        if try ExchangeProperties.check(exchange) { stored += 1 }
      } catch {
        print("seed \(seed): \(error)\n\(String(decoding: exchange.text, as: UTF8.self))")
        return (stored, true)
      }
    }
    return (stored, false)
  }
}
