"""Faults of files: damage, unsafe checkpoints, atomic writes, packaged models, releases."""

from typing import Any

from . import fault

VETTING = "package/vetting/test_vetting.py"


@fault("a checksum is of the size", "manifest:sha256", "package/test_manifest.py")
def _(original: Any, path: Any) -> str:
    return f"{path.stat().st_size:064x}"


@fault("a link may lead out of the folder", "vetting:check_files", VETTING)
def _(original: Any, folder: Any) -> None:
    from seq2see.errors import UserError

    try:
        original(folder)
    except UserError as error:
        if "outside its folder" not in str(error):
            raise


@fault("other weights are vetted than are loaded", "vetting:weight_files", VETTING)
def _(original: Any, folder: Any) -> Any:
    import json

    index = folder / "model.safetensors.index.json"
    if not index.is_file() or not (folder / "model.safetensors").is_file():
        return original(folder)
    return [folder / name for name in sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))]


fault("a text may grow without bound", "vetting_tokenizer:MOST_GROWTH",
      "package/vetting/test_vetting_tokenizer.py")(2**40)  # fmt: skip


@fault("Ctrl-C is reported as damaged input", "errors:as_user_error", "package/test_errors.py")
def _(original: Any, what: str) -> Any:
    from contextlib import contextmanager

    from seq2see.errors import UserError

    @contextmanager
    def catching() -> Any:
        try:
            with original(what):
                yield
        except KeyboardInterrupt as error:
            raise UserError(f"{what}: stopped") from error

    return catching()


@fault("a file is overwritten in place", "atomic:atomic_write", "package/test_atomic.py")
def _(original: Any, path: Any, content: Any) -> None:
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


@fault("a release names paths of this machine below the first level", "measures.release:named",
       "measures/test_release.py")  # fmt: skip
def _(original: Any, value: Any, paths: Any) -> Any:
    return {key: one if isinstance(one, dict | list) else original(one, paths) for key, one in value.items()}
