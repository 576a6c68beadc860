import Foundation
import TestSupport

/// Programs without a bus.
extension Desktop {
    var environmentWithoutBus: [String: String] {
        var environment = environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nonexistent/bus"
        return environment
    }

    /// Whether this machine has a daemon installed, which a program finds that has none beside it.
    static var hasInstalledDaemon: Bool {
        ["/usr/bin/defaultsd", "/usr/local/bin/defaultsd"].contains {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    /// A copy of a program in a directory of its own, with the shipped daemon beside it or without.
    func installed(_ program: String, daemon: Bool) throws -> String {
        let bin = directory.path + (daemon ? "/bin" : "/lone")
        let copy = "\(bin)/\(URL(filePath: program).lastPathComponent)"
        let files = FileManager.default
        if !files.fileExists(atPath: bin) {
            try files.createDirectory(atPath: bin, withIntermediateDirectories: false)
            if daemon {
                try files.createSymbolicLink(
                    atPath: bin + "/defaultsd",
                    withDestinationPath: Desktop.programs + "/defaultsd")
            }
        }
        if !files.fileExists(atPath: copy) { try Program.copy(program, to: copy) }
        return copy
    }

    @discardableResult
    func toolAlone(_ arguments: String...) -> ProgramResult {
        run([Desktop.programs + "/defaultsctl"] + arguments, environment: environmentWithoutBus)
    }

    /// What the tool prints on a terminal.
    ///
    /// - Parameters:
    ///   - script: What a shell runs in the same desktop meanwhile; the tool is ended after it.
    func onTerminal(_ arguments: [String], during script: String = "wait") throws -> String {
        try python(
            """
            import os, pty, signal, subprocess, sys, threading
            reader, terminal = pty.openpty()
            tool = subprocess.Popen(sys.argv[2:], stdout=terminal, stderr=terminal)
            os.close(terminal)
            text = b""
            def read():
                global text
                try:
                    while part := os.read(reader, 65536): text += part
                except OSError: pass
            thread = threading.Thread(target=read)
            thread.start()
            if sys.argv[1] != "wait":
                subprocess.run(["sh", "-c", sys.argv[1]], check=True)
                while b"the end" not in text: pass
                tool.send_signal(signal.SIGINT)
            status = tool.wait()
            thread.join()
            sys.stdout.write(ascii(text.decode()) + "\\n" + str(status) + "\\n")
            """, arguments: [script, Desktop.programs + "/defaultsctl"] + arguments
        ).requireOutput()
    }

    private func python(_ program: String, arguments: [String]) -> ProgramResult {
        run(["/usr/bin/python3", "-c", program] + arguments)
    }
}
