// Reads generated replies at every split on all processors; linked with HTTPCacheFuzzing by scripts/replies.sh.
//
// usage: replies [BYTES [FIRST SEED]]     every reply has a seed of its own, counted from the first
import Glibc
import HTTPCacheFuzzing

@main
enum Replies {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    let bytes = arguments.first.flatMap { Int($0) } ?? 1_000_000_000
    let first = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 9_111
    let workers = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let sums = await withTaskGroup(of: Sum.self, returning: Sum.self) { group in
      for worker in 0..<workers {
        group.addTask { check(every: workers, from: first &+ UInt64(worker), bytes: bytes / workers + 1) }
      }
      var sums = Sum()
      for await sum in group { sums.add(sum) }
      return sums
    }
    print("\(sums.replies) generated replies at every split, \(sums.bytes) bytes in all, from seed \(first)")
    exit(sums.isFailed ? 1 : 0)
  }

  struct Sum: Sendable {
    var replies = 0
    var bytes = 0
    var isFailed = false

    mutating func add(_ other: Sum) {
      (replies, bytes, isFailed) = (replies + other.replies, bytes + other.bytes, isFailed || other.isFailed)
    }
  }

  /// Checks replies until so many bytes were read, or one violates a property.
  static func check(every step: Int, from first: UInt64, bytes: Int) -> Sum {
    var (sum, seed) = (Sum(), first)
    while sum.bytes < bytes {
      do {
        sum.bytes += try ReplySplits.check(seed: seed)
        sum.replies += 1
      } catch {
        print("seed \(seed): \(error)")
        sum.isFailed = true
        return sum
      }
      seed &+= UInt64(step)
    }
    return sum
  }
}
