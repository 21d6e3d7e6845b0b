"""A finished run on the Hub (`training.push_to_hub`); a push that fails costs a line, and not the run."""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import HfApi

from seq2see.errors import UserError
from .arguments import Seq2SeeTrainingArguments
from .progress import report

NOT_OF_A_RUN = ["checkpoint-*", "ctranslate2-*", "moments/*", ".*"]


def check_hub(token: str | None) -> None:
    """UserError where the Hub does not answer, or does not know who asks: before anything is prepared."""
    try:
        HfApi().whoami(token=token)
    except Exception as error:  # offline, no token, a wrong one: the client has no common class
        raise UserError(
            f"training.push_to_hub: the Hub refuses this run ({reason(error)}); log in with `hf auth login`, or"
            " train without push_to_hub and upload the finished run with `hf upload`"
        ) from error


def push_run(folder: Path, repository: str, arguments: Seq2SeeTrainingArguments) -> None:
    """Upload the finished run without its checkpoints; where that fails, say so and how to do it by hand."""
    try:
        HfApi().upload_folder(
            repo_id=repository, folder_path=folder, commit_message=folder.name, token=arguments.hub_token,
            revision=arguments.hub_revision, ignore_patterns=NOT_OF_A_RUN,
        )
    except Exception as error:  # as above
        options = "".join(f" --exclude '{pattern}'" for pattern in NOT_OF_A_RUN)
        report(
            f"{folder} was not pushed to the Hub ({reason(error)}); it is kept here. To push it:"
            f" hf upload {repository} {folder} .{options}"
        )


def reason(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")[:200]
