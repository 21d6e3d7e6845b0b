"""What a visitor types does not outlive the answer.

Gradio keeps, for each of its last ten thousand visits, what every element was last sent and showed, so that its "deep
links" can bring it back.  We have links of our own.
"""

import asyncio
from typing import Any

from gradio.blocks import Blocks
from gradio.state_holder import SessionState, StateHolder


class ForgetfulVisit(SessionState):
    """An element that was updated is held until Gradio has read its answer off it, and never what it shows."""

    def __init__(self, blocks: Blocks):
        super().__init__(blocks)
        self._updated: dict[int, Any] = {}

    def __getitem__(self, key: int) -> Any:
        return self._updated.pop(key) if key in self._updated else super().__getitem__(key)

    def __setitem__(self, key: int, value: Any) -> None:
        self._updated[key] = value

    def _update_config(self, key: int) -> None:
        self.config_values.pop(key, None)

    def _update_value_in_config(self, key: int, value: Any) -> None:
        self.config_values.pop(key, None)


async def rest() -> None:
    """What Gradio's queue is to do last: its two loops hold on to the event that they saw last, and one of them looks
    every tenth of a second."""
    await asyncio.sleep(0.25)


class ForgetfulVisits(StateHolder):
    """To be a mounted Gradio's `state_holder`, whose elements have no gr.State among them."""

    def __getitem__(self, session_id: str) -> SessionState:
        if session_id not in self.session_data:
            self.session_data[session_id] = ForgetfulVisit(self.blocks)
        return super().__getitem__(session_id)
