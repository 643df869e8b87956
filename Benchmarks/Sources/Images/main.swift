// Images: hits in memory beside a dictionary, and thumbnails of photographs.
//
// usage: image-benchmark                        the table of hits
//        image-benchmark photographs FOLDER N   makes N JPEGs of 12 megapixels
//        image-benchmark thumbnails FOLDER OUT  makes a thumbnail of each, two at a time
let arguments = Array(CommandLine.arguments.dropFirst())
switch (arguments.first, arguments.count) {
case (nil, _): try await HitRows.run()
case ("photographs", 3): try Photographs.make(Int(arguments[2]) ?? 0, in: arguments[1])
case ("thumbnails", 3): try await Thumbnails.make(from: arguments[1], to: arguments[2])
default: print("usage: image-benchmark [photographs FOLDER N | thumbnails FOLDER OUT]")
}
