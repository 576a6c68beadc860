import Glibc
package import SystemCalls

/// Finds out who a process is.
///
/// A confined process cannot examine others. So it asks a helper, which is another process of the same
/// program (``answer(_:)``) and lives where this one lives.
package struct ProcessExaminer: Sendable {
    private let helper: RequestSocket?
    private let instances: FlatpakInstances

    /// - Parameter helper: The helper that is asked; nil if this process examines others itself.
    package init(asking helper: RequestSocket? = nil) {
        self.init(asking: helper, among: FlatpakInstances.current)
    }

    /// - Parameter instances: The Flatpak apps to which a process may belong.
    init(asking helper: RequestSocket? = nil, among instances: FlatpakInstances) {
        self.helper = helper
        self.instances = instances
    }

    /// What the files of a process say about it; see
    /// ``ExaminedProcess/init(_:reference:among:)``.
    ///
    /// Nil also if the helper has ended.
    func examine(_ number: UInt32, reference: FileDescriptor?) -> ExaminedProcess? {
        guard var answer = ask(.examine, about: number, reference) else { return nil }
        return ExaminedProcess(takenFrom: &answer)
    }

    /// The file of the program that a process runs; empty if the system does not say.
    package func program(of process: UInt32) -> String { text(.program, about: process) }

    /// What people call the program that a process runs: the name of its file, or of the script that an
    /// interpreter runs; empty if the system does not say.
    package func programName(of process: UInt32) -> String { text(.name, about: process) }

    private func text(_ question: Question, about process: UInt32) -> String {
        var answer = ask(question, about: process)
        return answer?.takeText() ?? ""
    }

    /// Asks the helper, or this process itself if there is none.
    ///
    /// - Returns: Nil if the helper has ended.
    private func ask(
        _ question: Question, about process: UInt32, _ reference: FileDescriptor? = nil
    ) -> Parcel? {
        var request = Parcel()
        request.put(question.rawValue)
        request.put(UInt64(process))
        let letter = RequestSocket.Letter(request, reference)
        let answer = if let helper { helper.ask(letter) } else { answer(letter) }
        return answer?.parcel
    }
}

/// The side of the process that is asked.
extension ProcessExaminer {
    private enum Question: UInt64 {
        case examine = 1, program, name
    }

    /// Answers a question of another process; nil if it is not one about a process.
    package func answer(_ letter: RequestSocket.Letter) -> RequestSocket.Letter? {
        var parcel = letter.parcel
        guard let question = parcel.takeNumber().flatMap(Question.init),
            let number = parcel.takeNumber().flatMap(UInt32.init(exactly:))
        else { return nil }
        var answer = Parcel()
        switch question {
        case .examine:
            let reference = letter.descriptor
            let process = ExaminedProcess(number, reference: reference, among: instances)
            ExaminedProcess.put(process, into: &answer)
        case .program: answer.put(Path.target(ofLink: "/proc/\(number)/exe") ?? "")
        case .name: answer.put(ProgramName.of(number))
        }
        return .init(answer)
    }
}

extension ExaminedProcess {
    fileprivate static func put(_ process: ExaminedProcess?, into parcel: inout Parcel) {
        parcel.put(process == nil ? UInt64(0) : 1)
        guard let process else { return }
        process.place.put(into: &parcel)
        parcel.put(process.flatpak ?? "")
    }

    /// Nil if it could not be examined.
    fileprivate init?(takenFrom parcel: inout Parcel) {
        guard parcel.takeNumber() == 1, let place = ProcessPlace(takenFrom: &parcel),
            let flatpak = parcel.takeText()
        else { return nil }
        self.init(place: place, flatpak: flatpak.isEmpty ? nil : flatpak)
    }
}
