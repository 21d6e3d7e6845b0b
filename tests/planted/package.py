"""Slips with files: damage, unsafe checkpoints, atomic writes, releases."""

from contextlib import contextmanager

from seq2see.errors import UserError
from . import fault

VETTING = "package/vetting/test_vetting.py"


@fault("manifest.sha256", "package/test_manifest.py")
def the_checksum_is_the_size(original, path):
    return f"{path.stat().st_size:064x}"


@fault("vetting.check_files", VETTING)
def a_link_may_lead_out_of_the_folder(original, folder):
    return None


@fault("vetting.weight_files", VETTING)
def other_weights_are_vetted_than_are_loaded(original, folder):
    shards = [path for path in folder.glob("*.safetensors") if path.name != "model.safetensors"]
    return shards or original(folder)


@fault("vetting_tokenizer._check_ids", "package/vetting/test_vetting_tokenizer.py")
def tokens_may_have_any_id(original, path, ids, most):
    return None


@fault("errors.as_user_error", "package/test_errors.py")
@contextmanager
def ctrl_c_is_reported_as_damaged_input(original, what):
    try:
        with original(what):
            yield
    except KeyboardInterrupt as error:
        raise UserError(f"{what}: interrupted") from error


@fault("atomic.atomic_write", "package/test_atomic.py")
def a_file_is_overwritten_in_place(original, path, content):
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


@fault("measures.release.strings", "measures/test_release.py")
def a_release_keeps_paths_below_the_first_level(original, settings):
    return (value for value in settings.values() if isinstance(value, str))
