"""Whom training reports its curves to (`training.report_to`): TensorBoard, or another that transformers knows.

    seq2see train storybook training.report_to=tensorboard
    tensorboard --logdir runs/storybook

Whatever is logged goes there: losses, BLEU and chrF, target tokens per second, the learning rate.
"""

from __future__ import annotations

from collections.abc import Sequence

from transformers.integrations import get_reporting_integration_callbacks

from seq2see.errors import UserError

EXTRAS = {"tensorboard": "'seq2see[tensorboard]'"}


def check_reporters(names: str | Sequence[str] | None) -> None:
    """Raises UserError, before anything is loaded or trained, where one is unknown or its package not installed."""
    for name in [names] if isinstance(names, str) else names or []:
        try:
            (callback,) = get_reporting_integration_callbacks([name])
        except ValueError as error:
            raise UserError(f"training.report_to={name}: {error}", exit_code=2) from error
        try:
            callback()
        except (ImportError, RuntimeError, AssertionError) as error:
            install = f"pip install {EXTRAS.get(name, name)}"
            raise UserError(
                f"training.report_to={name} needs a package that is not installed: {install}, or say"
                f" training.report_to=none ({str(error).splitlines()[0]})"
            ) from error
