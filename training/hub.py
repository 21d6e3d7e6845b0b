"""A run on the Hub (`training.push_to_hub`): checked before anything is prepared; a push that fails costs a line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import HfApi
from transformers.trainer_utils import HubStrategy

from seq2see.errors import UserError
from seq2see.manifest import NAME as MANIFEST
from .arguments import Seq2SeeTrainingArguments
from .progress import say

# What a checkpoint has beyond a model: its states, and a manifest that names them.
STATES = ["*.pt", "*.pth", "raw_weights.safetensors", "trainer_state.json", MANIFEST]
NOT_OF_A_RUN = ["checkpoint-*", "moments/*", ".*"]


def check_hub(token: str | None) -> None:
    """UserError where the Hub does not answer, or does not know who asks."""
    with in_one_line():
        HfApi().whoami(token=token)


def create_repository(arguments: Seq2SeeTrainingArguments) -> str:
    """The full name of the run's repository, which is made where there is none."""
    name = arguments.hub_model_id or Path(str(arguments.output_dir)).absolute().name
    with in_one_line():
        made = HfApi().create_repo(
            name, token=arguments.hub_token, private=arguments.hub_private_repo, exist_ok=True
        )
    return str(made.repo_id)


@contextmanager
def in_one_line() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # offline, no token, a wrong one, no right to write: the client has no common class
        raise UserError(
            f"training.push_to_hub: the Hub does not take this run ({reason(error)}); log in with `hf auth login`, or"
            " train without it and push the finished run with `hf upload`"
        ) from error


def push_checkpoint(folder: Path, repository: str, arguments: Seq2SeeTrainingArguments) -> None:
    """The checkpoint's model, code and tokenizer as the repository's own, and as hub_strategy says all of it."""
    push(folder, repository, arguments, leave_out=STATES)
    inside = {HubStrategy.CHECKPOINT: "last-checkpoint", HubStrategy.ALL_CHECKPOINTS: folder.name}
    if place := inside.get(HubStrategy(arguments.hub_strategy)):
        push(folder, repository, arguments, place=place)


def push_run(folder: Path, repository: str, arguments: Seq2SeeTrainingArguments) -> None:
    """The finished run without its checkpoints."""
    push(folder, repository, arguments, leave_out=NOT_OF_A_RUN)


def push(
    folder: Path,
    repository: str,
    arguments: Seq2SeeTrainingArguments,
    *,
    place: str | None = None,
    leave_out: list[str] | None = None,
) -> None:
    """Upload a folder; where that fails, one line says so and how to do it by hand."""
    try:
        HfApi().upload_folder(
            repo_id=repository,
            folder_path=folder,
            path_in_repo=place,
            commit_message=f"{folder.name}{f' in {place}' if place else ''}",
            token=arguments.hub_token,
            revision=arguments.hub_revision,
            ignore_patterns=leave_out,
            delete_patterns=[MANIFEST] if leave_out else None,  # of an earlier push, which this one overwrites
        )
    except Exception as error:  # as above
        options = "".join(f" --exclude '{pattern}'" for pattern in leave_out or ())
        say(
            f"{folder} was not pushed to the Hub ({reason(error)}), and is kept here; to push it:"
            f" hf upload {repository} {folder} {place or '.'}{options}"
        )


def reason(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")[:200]
