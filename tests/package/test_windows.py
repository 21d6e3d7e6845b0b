"""What Windows does not have is not needed: simulated by removing it once the libraries, which know their systems, are
imported.  Nothing here was run on Windows."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import tiny

ROOT = Path(__file__).resolve().parent.parent.parent
UNIX_ONLY = {
    "os": """chown chroot confstr copy_file_range fchdir fchmod fchown fdatasync fork forkpty getegid geteuid getgid
        getgroups getloadavg getpgid getpgrp getpriority getsid getuid getxattr killpg lchown lockf memfd_create mkfifo
        mknod nice openpty pathconf pidfd_open pipe2 posix_fadvise posix_fallocate posix_spawn pread pwrite readv
        register_at_fork sched_getaffinity sched_setaffinity sched_yield sendfile setpgid setpriority setsid setuid
        statvfs sync sysconf tcgetpgrp ttyname uname wait wait3 wait4 waitid writev WNOHANG O_CLOEXEC O_DIRECTORY
        O_NOFOLLOW O_NONBLOCK O_SYNC""",
    "signal": """SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGUSR1 SIGUSR2
        SIGWINCH alarm getitimer pause pthread_kill pthread_sigmask setitimer siginterrupt sigpending sigwait""",
}
NO_MODULES = ["resource", "fcntl", "grp", "pwd", "termios", "tty", "pty", "syslog", "uvloop"]
FOLDERS = ["seq2see", "configs", "modeling", "tokenizer", "translate", "storybook", "training", "lens",
           "measures", "lessons", "documents", "serve", "webpage", "passes", "text", "webpage_data"]
FILES = [path.relative_to(ROOT) for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def modules():
    """Every module of the package, but for the one that is run and not imported, and Ray's, which is not installed."""
    names = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in FILES]
    names = [name if name.partition(".")[0] == "seq2see" else f"seq2see.{name}" for name in names]
    return sorted(set(names) - {"seq2see.__main__", "seq2see.serve.ray_app"})


def libraries():
    """Every module of others that ours import, at once or when they need it, but for two that are not installed."""
    found = set()
    for node in (node for path in FILES for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8")))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module))
    return sorted(name for name in found if name.partition(".")[0] not in ("seq2see", "ray", "xarray", *NO_MODULES))


SCRIPT = """
import importlib, sys
libraries, modules, unix_only, no_modules, run = map(eval, sys.argv[1:])
for name in libraries:
    importlib.import_module(name)
for module, names in unix_only.items():
    module = importlib.import_module(module)
    for name in names.split():
        vars(module).pop(name, None)
sys.modules.update(dict.fromkeys(no_modules))
for name in modules:
    try:
        importlib.import_module(name)
    except (AttributeError, ImportError) as error:
        print(name, error)
from seq2see import Translator
from seq2see.serve.server import bind
print(Translator.from_pretrained(run)("The cat.").engine)
bind("127.0.0.1", 0).close()
"""


@pytest.mark.long
def test_every_module_can_be_imported_and_the_fast_engine_works(tmp_path):
    pytest.importorskip("ctranslate2")
    run = tiny.save(tmp_path / "run", *tiny.make("seq2see"))
    given = [libraries(), modules(), UNIX_ONLY, NO_MODULES, str(run)]
    done = subprocess.run([sys.executable, "-c", SCRIPT, *map(repr, given)], capture_output=True, text=True,
                          timeout=200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["ctranslate2"]  # and no module that could not be imported
