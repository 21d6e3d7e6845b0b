"""The names of the views of attention, in display order; `lens/views.py` defines them."""

from typing import Literal, get_args

View = Literal["raw", "norm", "rollout", "mixing", "contributions", "left_out"]
VIEWS: tuple[View, ...] = get_args(View)
