"""What a visitor types does not outlive the answer: Gradio would keep, for each of the last ten thousand visits, what
every element was last sent and showed, so that its "deep links" can bring it back.  We have links of our own.
"""

from typing import Any

import gradio.state_holder
from gradio.components import State
from gradio.state_holder import SessionState


class Forgetful(SessionState):
    """A visit of which nothing is kept but what is asked to be, by gr.State."""

    def __setitem__(self, key: int, value: Any) -> None:
        if isinstance(self.blocks_config.blocks.get(key), State):
            super().__setitem__(key, value)

    def _update_config(self, key: int) -> None:
        self.config_values.pop(key, None)

    def _update_value_in_config(self, key: int, value: Any) -> None:
        self.config_values.pop(key, None)


def forget() -> None:
    """From now on, of every page of this process."""
    gradio.state_holder.SessionState = Forgetful
