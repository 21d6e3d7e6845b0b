"""The estimate of one gradient orders heads at positions as patching them does, on storybook's minimal pairs."""

import pytest

from seq2see.pretrained import packaged_folder


@pytest.mark.long
def test_estimates_order_patches_as_they_are(imported):
    rows = imported("attribution_patching").measure(str(packaged_folder("storybook")), 2)
    found = {row["name"]: row["rank_correlation"] for row in rows}
    assert found["*.hook_z"] > 0.9 and found["*.hook_pattern"] > 0.9 and found["*.hook_resid_pre"] > 0.4
    assert {row["pairs"] for row in rows} == {2}
