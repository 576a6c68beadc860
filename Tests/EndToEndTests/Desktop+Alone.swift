import Foundation
import TestSupport

/// The tool where there is no bus.
extension Desktop {
    var environmentWithoutBus: [String: String] {
        var environment = environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nonexistent/bus"
        return environment
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
