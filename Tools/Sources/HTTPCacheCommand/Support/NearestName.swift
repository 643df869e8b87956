/// Finds the name that a misspelt one may stand for.
enum NearestName {
  /// The nearest of some names; nil if none is near, or `given` is too long to be a name.
  static func of(_ given: String, among names: [String]) -> String? {
    guard given.utf8.count <= 100 else { return nil }
    let most = max(1, given.count / 3)
    return names.map { (name: $0, mistakes: mistakes(in: given, of: $0)) }.filter { $0.mistakes <= most }
      .min { $0.mistakes < $1.mistakes }?.name
  }

  /// The number of letters that are missing, wrong, too many, or exchanged with the next one.
  private static func mistakes(in given: String, of name: String) -> Int {
    let (given, name) = (Array(given), Array(name))
    var (before, last) = ([Int](), Array(0...name.count))
    for i in given.indices {
      var row = [i + 1]
      for j in name.indices {
        var least = min(last[j] + (given[i] == name[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, given[i] == name[j - 1], given[i - 1] == name[j] {
          least = min(least, before[j - 1] + 1)
        }
        row.append(least)
      }
      (before, last) = (last, row)
    }
    return last[name.count]
  }
}
