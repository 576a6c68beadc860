package import DefaultsModel

/// What a caller may do, depending on who it is.
package enum CallerAccess {
    /// Nothing.
    case none
    /// Some domains, and nothing that shows or changes the service as a whole.
    ///
    /// The application is nil if it is unknown.
    case confined(application: String?)
    /// Everything.
    case full
}

/// Who calls, as far as rights and bounds depend on it.
package struct Caller {
    /// What it may do.
    package let access: CallerAccess
    /// The program, of which others can be told apart.
    package let program: WriteRates.Program
    /// The bus name of its connection, or the name of its connection without a bus.
    package let origin: String
    /// Finds out which program it runs, as long as it waits; nil if that is unknown.
    let examine: () -> WriterLog.Writer?

    /// Makes a caller from what is known about it.
    package init(
        access: CallerAccess, program: WriteRates.Program, origin: String,
        examine: @escaping () -> WriterLog.Writer?
    ) {
        self.access = access
        self.program = program
        self.origin = origin
        self.examine = examine
    }

    /// The application, if it is in a sandbox.
    package var application: String? {
        if case .confined(let application) = access { application } else { nil }
    }

    /// Whether it is in a sandbox, or may do nothing.
    package var isConfined: Bool {
        if case .full = access { false } else { true }
    }
}
