// Confines itself as the daemon does, tries what the daemon may and may not do then, and tells each
// outcome on a line: what was tried, and "done" or the number of the error.
//
// Arguments: a directory of its own, a directory that it may read, and one that it may not use. Each has
// the file "file". The first one has links to the third: "link" to its file, and "links" to itself.

import CLinux
import DefaultsService
import Glibc
import SystemCalls

let (own, layer, outside) = (
    CommandLine.arguments[1], CommandLine.arguments[2], CommandLine.arguments[3]
)

func tell(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    guard write(STDOUT_FILENO, bytes, bytes.count) == bytes.count else { exit(2) }
}

func attempt(_ what: String, _ call: () -> Int32) {
    errno = 0
    tell("\(what): \(call() >= 0 ? "done" : "\(errno)")")
}

/// Opens a file as all of the daemon does: by the system, or by its helper.
func attemptOpening(_ what: String, _ path: String, _ flags: Int32) {
    attempt(what) { FileCalls.open(path, flags | O_CLOEXEC) }
}

let new = O_WRONLY | O_CREAT | O_EXCL

func attemptFiles() {
    attemptOpening("read own", "\(own)/file", O_RDONLY)
    attemptOpening("write own", "\(own)/file", O_RDWR)
    attemptOpening("make own", "\(own)/new", new)
    attempt("rename own") { FileCalls.rename("\(own)/new", to: "\(own)/newer") }
    attempt("remove own") { FileCalls.unlink("\(own)/newer") }
    attempt("make own directory") { FileCalls.makeDirectory("\(own)/folder") }
    attemptOpening("make below own directory", "\(own)/folder/new", new)
    attemptOpening("list layer", layer, O_RDONLY | O_DIRECTORY)
    attemptOpening("read layer", "\(layer)/file", O_RDONLY)
    attemptOpening("write layer", "\(layer)/file", O_WRONLY)
    attemptOpening("make layer", "\(layer)/new", new)
}

func attemptForbiddenFiles() {
    attemptOpening("read outside", "\(outside)/file", O_RDONLY)
    attemptOpening("list outside", outside, O_RDONLY | O_DIRECTORY)
    attemptOpening("write outside", "\(outside)/file", O_WRONLY)
    attemptOpening("make outside", "\(outside)/new", new)
    attempt("rename outside") { FileCalls.rename("\(outside)/file", to: "\(outside)/other") }
    attempt("rename to outside") { FileCalls.rename("\(own)/file", to: "\(outside)/new") }
    attempt("remove outside") { FileCalls.unlink("\(outside)/file") }
    attempt("make outside directory") { FileCalls.makeDirectory("\(outside)/folder") }
    attemptOpening("read by link", "\(own)/link", O_RDONLY)
    attemptOpening("make by link", "\(own)/links/new", new)
    attempt("remove by link") { FileCalls.unlink("\(own)/links/file") }
    attemptOpening("read by dots", "\(own)/../outside/file", O_RDONLY)
    attemptOpening("read by dots of a layer", "\(layer)/../outside/file", O_RDONLY)
    attemptOpening("read memory of the parent", "/proc/\(getppid())/mem", O_RDONLY)
}

func attemptForbiddenCalls() {
    attempt("run a program") {
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/true"), nil]
        return execv("/bin/true", &arguments)
    }
    attempt("make a process") {
        let process = clinux_fork()
        if process == 0 { _exit(0) }
        return process
    }
    attempt("make a socket of the network") { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
    attempt("make a local socket") { socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) }
    attempt("signal the parent") { kill(getppid(), 0) }
    attempt("make memory code") {
        let memory = mmap(nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        return memory == MAP_FAILED ? -1 : 0
    }
    attempt("make a link") { symlink(outside, "\(own)/made") }
    attempt("change the root") { chroot(own) }
    attempt("make a thread") {
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, { _ in nil }, nil)
        guard code == 0 else { return -1 }
        return pthread_join(thread, nil)
    }
}

func removeOwn() {
    for name in ["file", "link", "links", "folder/new"] { unlink("\(own)/\(name)") }
    for name in ["/folder", ""] { rmdir("\(own)\(name)") }
}

/// Somebody who is not confined, and removes the directory when asked.
func startRemover() throws -> RequestSocket {
    let (ours, theirs) = try RequestSocket.pair()
    try ForkedProcess.start(named: "remover", keeping: theirs) { socket in
        RequestSocket.serve(on: socket) { request in
            removeOwn()
            return request
        }
    }
    return RequestSocket(on: ours)
}

do {
    let remover = try startRemover()
    let helper = try HelperProcess.start()
    let confinement = ServiceConfinement(.init(own: [own], read: [layer], databases: 7))
    for failure in confinement.begin(with: helper.requests) { tell("failure: \(failure)") }
    attemptFiles()
    attemptForbiddenFiles()
    attemptForbiddenCalls()
    tell("again")
    var request = Parcel()
    request.put("remove")
    guard remover.ask(.init(request)) != nil, access(own, F_OK) != 0 else { exit(3) }
    attempt("make own again") { FileCalls.makeDirectory(own) }
    attemptOpening("make own file again", "\(own)/file", new)
    attemptFiles()
    attemptForbiddenFiles()
} catch {
    tell("\(error)")
}
