"""The benchmarks of training run, count what they say they count, and write it down.  How fast is not asked here."""

import json
import random
from contextlib import redirect_stdout
from io import StringIO

import pytest

TINY = [
    "tokenizer.vocab_size=360", "training.cpu_processes=1", "model.d_model=16", "model.encoder_layers=1",
    "model.decoder_layers=1", "model.encoder_ffn_dim=16", "model.decoder_ffn_dim=16",
]


@pytest.fixture(scope="module")
def bench(imported):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_DATASETS_CACHE", "", prepend=None)  # what the benchmark sets is undone
        patch.setattr("seq2see.training.processes.usable_cores", lambda: 1)  # the suite leaves a test one thread
        yield imported("train_speed")


@pytest.mark.long
def test_the_peer_has_its_figures(bench, tmp_path):
    draw = random.Random(0)
    for split, pairs in (("train", 300), ("val", 4)):
        lines = ["".join(draw.choices("abc ", k=draw.randint(3, 30))).strip() or "a" for _ in range(pairs)]
        for language, side in (("en", lines), ("de", [line[::-1] + " b" for line in lines])):
            (tmp_path / f"{split}.{language}").write_text("\n".join(side) + "\n", "utf-8")
    options = ["--data", str(tmp_path), "--steps", "2", "--rounds", "1"]
    with redirect_stdout(StringIO()) as said:
        bench.main([*options, "--only", "stock float32", "--set", *TINY])
    result = json.loads(said.getvalue().splitlines()[-1])
    [row] = result["contenders"]
    assert row["name"] == "stock float32" and row["tokens_per_second"] == [row["median"]] and row["median"] > 0
    assert row["memory_mib"] > 100 and row["per_processor_second"] > 0
    assert result["rows"] == []  # ours itself did not run
    assert {"cpu", "cores", "load", "torch", "transformers"} <= set(result["machine"])
    assert (result["pairs"], result["updates"], result["rounds"]) == (300, 2, 1)


def test_the_fastest_setting_of_the_peer_counts(bench):
    """And ratios are of one round each: by the medians of each side alone, ours would be 1.5 times as fast."""
    speeds = {"ours": [10.0, 30.0, 60.0], "no bf16": [5.0, 15.0, 30.0],
              "stock float32": [5.0, 20.0, 30.0], "stock bf16": [4.0]}
    contenders = [one for one in bench.all_contenders(2, bf16=True) if one.name in speeds]
    runs = {name: [bench.Run(speed, speed, 1.0) for speed in items] for name, items in speeds.items()}
    _, ratios = bench.summarise(contenders, runs)
    assert [row["name"] for row in ratios] == ["end to end", "no bf16"]
    assert ratios[0]["than"] == "stock float32"
    assert [ratios[0][key] for key in ("ours", "peer", "ratio", "low", "high")] == [30.0, 20.0, 2.0, 1.5, 2.0]
    assert [ratios[1][key] for key in ("ratio", "low", "high")] == [2.0, 2.0, 2.0]
    assert [one.name for one in contenders if bench.is_hopeless(one, contenders, runs)] == ["stock bf16"]
