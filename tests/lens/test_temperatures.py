"""What the page needs for its sliders and badges: exact under any temperature, and silent about other weights."""

import json
from dataclasses import replace

import numpy as np
import pytest

from seq2see.errors import UserError
from seq2see.lens import outlook
from seq2see.lens.probabilities import TEMPERATURES, log_sums
from seq2see.lens.roles import read_roles


def test_every_temperature_gives_what_the_whole_vocabulary_gives(trace):
    sums = log_sums(trace)
    for g in (0, 8, 12, 24):
        wanted = outlook(trace, temperature=float(TEMPERATURES[g]))
        for t, step in enumerate(trace.top):
            mine = [(one.log_prob - step[0].log_prob) / TEMPERATURES[g] - sums[t, g] for one in step]
            np.testing.assert_allclose(np.exp(mine), np.exp([one.log_prob for one in wanted.top[t]]), atol=2e-3)
    np.testing.assert_array_equal(sums[:, 12], np.float32([-step[0].log_prob for step in trace.top]))
    with pytest.raises(UserError, match="no logits"):
        log_sums(replace(trace, logits=None))


ROW = {"head": ["cross", 1, 3], "roles": [{"role": "alignment", "score": 0.8, "low": 0.7, "high": 0.9, "uniform": 0.1,
                                           "positional": 0.3, "rival": None}]}


def test_roles_are_read_for_the_weights_they_were_measured_on(tmp_path):
    path = tmp_path / "heads.json"
    path.write_text(json.dumps({"weights": "abc", "heads": [ROW, {"head": ["encoder", 0, 0], "roles": []}]}))
    [(head, [role])] = read_roles(path, weights="abc").items()
    assert head == ("cross", 1, 3) and str(role).startswith("alignment: 80% of its attention [70%, 90%], 30% by chance")
    assert read_roles(path, weights="other") == {}
    path.write_text('{"weights": "abc", "heads": [{"head": 3}]}')
    assert read_roles(path, weights="abc") == {}
