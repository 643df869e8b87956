/// Columns of text, padded to the widest cell.
struct TextTable {
  /// The side on which a column is padded.
  enum Alignment {
    case leading, trailing
  }

  private let alignments: [Alignment]
  private var rows: [[String]]

  /// Makes a table with its first row.
  init(_ header: [String], _ alignments: [Alignment]) {
    self.alignments = alignments
    rows = [header]
  }

  /// Adds a row of as many cells as the first.
  mutating func add(_ row: [String]) { rows.append(row) }

  /// The lines; the last column is not padded.
  var lines: [String] {
    let widths = alignments.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = row.indices.map { column in
        let fill = String(repeating: " ", count: widths[column] - row[column].count)
        if alignments[column] == .trailing { return fill + row[column] }
        return column == row.count - 1 ? row[column] : row[column] + fill
      }
      return cells.joined(separator: "  ")
    }
  }
}
