"""The names of the views of attention, in the order in which they are shown; `lens/views.py` says what they are."""

from typing import Literal, get_args

View = Literal["raw", "norm", "rollout", "mixing", "contributions", "left_out"]
VIEWS: tuple[View, ...] = get_args(View)
