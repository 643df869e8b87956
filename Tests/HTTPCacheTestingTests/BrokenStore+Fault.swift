extension BrokenStore {
  enum Fault: String, CaseIterable, Sendable {
    case none, losesLastByte, commitsWhatIsAbandoned, ignoresPartition, ignoresVary
    case losesTrailers, ignoresInvalidation, updatesNothing, removesTooMuch, shortListing
    case wrongUsage, keepsCapacity, noCounters, acceptsAnyLength
    case keepsWhatIsNotResumable, keepsNothing, extendsFromTheStart, forgetsRefusals
    case clonesHalf, clonesOverFiles, clonesPartly, clonesWhatGrows, clonesByLink
    case keepsFiles, wrongBodyPath, halfBodyPath, wrongRegion, verifiesBeyondTheEnd, verifiesDamage
    case verifiesNoFile, readsDamage
    case updatesFromOldState, updatesInSteps, keepsOldGroups, losesPin, keepsOldPin
    case listsAllVariants, marksAllVariants, removesAllVariants, findsReplacedVariants
    case ignoresTickets
    case trimsNothing, trimsTooMuch, pinsNothing, wipesNothing, wipesEverything, wipesNoFiles
    case storesWhatWasWiped

    /// A part of the name of a check that has to find it; nil if it is no fault.
    var expected: String? {
      switch self {
      case .none, .keepsFiles: nil
      case .losesLastByte: "byte for byte"
      case .commitsWhatIsAbandoned: "abandoned writer"
      case .ignoresPartition: "partitions do not see"
      case .ignoresVary: "Variants are told apart"
      case .losesTrailers: "Trailers"
      case .ignoresInvalidation: "invalidated"
      case .ignoresTickets: "asked for before"
      case .updatesNothing: "An update replaces"
      case .removesTooMuch: "Selected alone"
      case .shortListing: "in pages"
      case .wrongUsage: "Usage is exact"
      case .keepsCapacity: "smaller capacity"
      case .noCounters: "Counters"
      case .acceptsAnyLength: "as long as announced"
      case .keepsWhatIsNotResumable: "not resumable"
      case .keepsNothing: "breaks off"
      case .extendsFromTheStart: "is added to a part"
      case .forgetsRefusals: "was not stored is remembered"
      case .clonesHalf, .clonesByLink: "A clone is the whole body"
      case .clonesWhatGrows: "Of a body that grows"
      case .clonesOverFiles: "A clone is not written over"
      case .clonesPartly: "A part of a body is stored"
      case .wrongBodyPath, .halfBodyPath: "The path of an entry"
      case .wrongRegion, .verifiesBeyondTheEnd, .verifiesNoFile: "What lies in a file"
      case .verifiesDamage, .readsDamage: "What was damaged in its file"
      case .updatesFromOldState: "at the same time none is lost"
      case .updatesInSteps: "at the same time one is left"
      case .keepsOldGroups: "An update of its groups"
      case .losesPin, .keepsOldPin: "An update keeps a pin"
      case .listsAllVariants, .marksAllVariants, .removesAllVariants: "Of one variant"
      case .findsReplacedVariants: "A variant that was replaced"
      case .trimsNothing, .trimsTooMuch: "Trimming memory frees"
      case .pinsNothing: "Trimming memory leaves"
      case .wipesNothing, .wipesEverything, .wipesNoFiles: "A wiped partition"
      case .storesWhatWasWiped: "before its partition was wiped"
      }
    }

    /// Whether the store has its bodies in files as well.
    var hasFiles: Bool {
      switch self {
      case .keepsFiles, .halfBodyPath, .wrongRegion, .verifiesBeyondTheEnd, .verifiesDamage,
        .readsDamage, .clonesByLink, .wipesNoFiles:
        true
      default: false
      }
    }
  }
}
