internal import CYAML
internal import Glibc

/// The functions of libyaml, which is loaded at the first document in YAML.
///
/// Linked, it would cost each start of the tool what the loader needs for one more library.
struct LibYAML: @unchecked Sendable {
    typealias Initialize = @convention(c) (UnsafeMutablePointer<yaml_parser_t>) -> Int32
    typealias SetInput =
        @convention(c) (
            UnsafeMutablePointer<yaml_parser_t>, UnsafePointer<UInt8>, Int
        ) -> Void
    typealias Parse =
        @convention(c) (
            UnsafeMutablePointer<yaml_parser_t>, UnsafeMutablePointer<yaml_event_t>
        ) -> Int32
    typealias DeleteEvent = @convention(c) (UnsafeMutablePointer<yaml_event_t>) -> Void
    typealias DeleteParser = @convention(c) (UnsafeMutablePointer<yaml_parser_t>) -> Void

    let initialize: Initialize
    let setInput: SetInput
    let parse: Parse
    let deleteEvent: DeleteEvent
    let deleteParser: DeleteParser

    /// Nil if it is not installed.
    static let loaded = LibYAML()

    private init?() {
        guard let library = dlopen("libyaml-0.so.2", RTLD_NOW | RTLD_LOCAL) else { return nil }
        func function<Function>(_ name: String, as type: Function.Type) -> Function? {
            dlsym(library, name).map { unsafeBitCast($0, to: type) }
        }
        guard let initialize = function("yaml_parser_initialize", as: Initialize.self),
            let setInput = function("yaml_parser_set_input_string", as: SetInput.self),
            let parse = function("yaml_parser_parse", as: Parse.self),
            let deleteEvent = function("yaml_event_delete", as: DeleteEvent.self),
            let deleteParser = function("yaml_parser_delete", as: DeleteParser.self)
        else { return nil }
        (self.initialize, self.setInput, self.parse) = (initialize, setInput, parse)
        (self.deleteEvent, self.deleteParser) = (deleteEvent, deleteParser)
    }
}
