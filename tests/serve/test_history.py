"""Which checkpoints of a run are there to go back to."""

from seq2see.serve.dialects.inside import checkpoints


def test_whole_checkpoints_in_order_from_the_run_and_from_one_of_them(tmp_path):
    for name, files in [("checkpoint-10", ("config.json", "trainer_state.json")), ("checkpoint-9", ("config.json",)),
                        ("checkpoint-2", ("config.json", "trainer_state.json")), ("checkpoint-x", ()),
                        ("checkpoint-3-old", ("config.json", "trainer_state.json"))]:
        (tmp_path / name).mkdir()
        for file in files:
            (tmp_path / name / file).write_text("{}")
    found = checkpoints(tmp_path)
    assert list(found) == [2, 10], "the one without its last file is still being written"
    assert checkpoints(tmp_path / "checkpoint-10") == found
    assert checkpoints(None) == {}
