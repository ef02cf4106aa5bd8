import Reports
import Symbolication

/// SARIF 2.1.0, as far as the gate has something to say.
/// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
struct SARIFLog: Encodable {
  struct Message: Encodable {
    let text: String

    /// A text in which no reader sees a link (section 3.11.6).
    ///
    /// `A::operator[](int)` is a link to `int` without a text: viewers show `A::operator`. Those
    /// that know backslashes are few, the others show them; a blank is read alike by all. Braces
    /// stay: section 3.11.5 wants them doubled, but viewers replace and halve them only in messages
    /// with arguments, of which there are none.
    init(text: String) {
      // There are a million texts of many findings, and hardly one to change.
      self.text = TextSearch.holds(text, "](") ? text.replacing("](", with: "] (") : text
    }
  }

  struct Rule: Encodable {
    struct Configuration: Encodable { var level: String }
    struct Properties: Encodable {
      var precision: String
      var severity: String
      var tags: [String]
      enum CodingKeys: String, CodingKey {
        case precision, tags
        case severity = "problem.severity"
      }
    }
    var id: String
    var name: String
    var shortDescription: Message
    var fullDescription: Message
    var help: Message
    var defaultConfiguration: Configuration
    var properties: Properties
  }

  struct Location: Encodable {
    struct Physical: Encodable {
      struct Artifact: Encodable {
        var uri: String
        var uriBaseId: String?
      }
      struct Region: Encodable {
        var startLine: Int
        var startColumn: Int?
        var endColumn: Int?
      }
      var artifactLocation: Artifact
      var region: Region
    }
    struct Logical: Encodable {
      var fullyQualifiedName: String
      var kind: String
    }
    var id: Int?
    var physicalLocation: Physical?
    var logicalLocations: [Logical]?
    var message: Message?
  }

  struct CodeFlow: Encodable {
    struct ThreadFlow: Encodable { var locations: [Step] }
    struct Step: Encodable { var location: Location }
    var message: Message
    var threadFlows: [ThreadFlow]
  }

  struct Result: Encodable {
    struct Fingerprints: Encodable { var primaryLocationLineHash: String }
    struct Suppression: Encodable {
      var kind: String
      var justification: String
    }
    struct Properties: Encodable {
      var process: String
      var count: UInt64
      var bytes: UInt64
    }
    var ruleId: String
    var ruleIndex: Int
    var level: String
    var message: Message
    var locations: [Location]
    var relatedLocations: [Location]?
    var codeFlows: [CodeFlow]?
    /// In how many processes it was found; nil for one.
    var occurrenceCount: Int?
    var partialFingerprints: Fingerprints
    var baselineState: String?
    var suppressions: [Suppression]?
    var properties: Properties
  }

  struct Notification: Encodable {
    var level: String
    var message: Message
  }

  struct Invocation: Encodable {
    var executionSuccessful: Bool
    var exitCode: Int32
    var toolExecutionNotifications: [Notification]
  }

  struct Driver: Encodable {
    var name: String
    var semanticVersion: String
    var rules: [Rule]
  }

  struct Tool: Encodable { var driver: Driver }
  struct Base: Encodable { var description: Message }
  struct Automation: Encodable { var id: String }

  struct Run: Encodable {
    var tool: Tool
    var automationDetails: Automation
    var invocations: [Invocation]
    var originalUriBaseIds: [String: Base]
    var columnKind: String
    var results: [Result]
  }

  enum Limit {
    /// GitHub takes no more.
    static let results = 25_000
    /// Steps of a code flow: GitHub shows no more.
    private static let locations = 100
    /// Steps that are left of a code flow however many results there are.
    private static let leastLocations = 10
    /// Steps of all results together, of about 400 bytes each: whole stacks of thousands of results made logs that
    /// nobody takes.
    private static let allLocations = 100_000

    /// How many steps of each code flow are written.
    static func steps(inEachOf results: Int) -> Int {
      min(locations, max(leastLocations, allLocations / max(results, 1)))
    }
  }

  let version = "2.1.0"
  let schema = "https://json.schemastore.org/sarif-2.1.0.json"
  var runs: [Run]

  enum CodingKeys: String, CodingKey {
    case version, runs
    case schema = "$schema"
  }
}
