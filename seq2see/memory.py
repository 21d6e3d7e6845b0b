"""How much memory there is: a model that does not fit is refused before it is loaded."""

from pathlib import Path

from seq2see.errors import UserError

GROUP = Path("/sys/fs/cgroup")  # a container's limit, where there is one
GB = 1e9


def available_memory() -> int:
    """The bytes that this process may still take without swapping."""
    import psutil

    available = int(psutil.virtual_memory().available)
    try:
        limit, used = ((GROUP / f"memory.{name}").read_text().strip() for name in ("max", "current"))
        return available if limit == "max" else min(available, int(limit) - int(used))
    except (OSError, ValueError):
        return available


def check_memory(needed: int, what: str) -> None:
    """UserError if `what` needs more bytes than there are."""
    available = available_memory()
    if needed > available:
        raise UserError(f"{what} needs {needed / GB:.1f} GB of memory, but {available / GB:.1f} GB are free; close"
                        " other programs, or choose a smaller model")
