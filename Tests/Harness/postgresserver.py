"""A PostgreSQL server of our own, on a socket in a directory and nowhere else unless it is told to."""

import contextlib
import os
import pathlib
import shutil
import subprocess

AS_USER = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
"""PostgreSQL refuses to run as root, so root runs it as another user."""


def programs() -> pathlib.Path | None:
    """The directory with the programs of the newest PostgreSQL; None if no server is installed."""
    found = [file.parent for file in pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres")]
    return max(found, key=lambda path: int(path.parent.name), default=None)


@contextlib.contextmanager
def started(command, ready: str, environment: dict[str, str] | None = None):
    """Runs a server program while the block runs, from the line in which it says that it is ready."""
    process = subprocess.Popen(
        list(map(str, command)), env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        said = []
        while ready not in (line := process.stdout.readline()):
            said.append(line)
            if not line:
                raise RuntimeError(f"{command[0]} does not start: {''.join(said)}")
        yield
    finally:
        process.terminate()
        process.communicate()


@contextlib.contextmanager
def postgres_server(
    directory: pathlib.Path, *, authentication: str = "local all all trust\n",
    options: dict[str, object] | None = None, environment: dict[str, str] | None = None,
):
    """Runs a server while the block runs. Its socket and its data are in the directory, which exists.

    `authentication` is the text of pg_hba.conf, and `options` are settings. Everything in the directory
    becomes the server's.
    """
    place, data = programs(), directory / "data"
    if AS_USER:
        for file in (directory, *directory.iterdir()):
            shutil.chown(file, "postgres", "postgres")
    subprocess.run([*AS_USER, place / "initdb", "-D", data, "-A", "trust", "-U", "postgres"], check=True,
                   stdout=subprocess.DEVNULL, env=environment)
    (data / "pg_hba.conf").write_text(authentication)
    settings = {"listen_addresses": "", "unix_socket_directories": directory} | (options or {})
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with started([*AS_USER, place / "postgres", "-D", data, *words], "ready to accept", environment):
        yield
