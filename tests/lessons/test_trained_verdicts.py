"""The verdicts of the lessons that train: on figures made to hold, and on the same with one thing wrong."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from seq2see.lens.ablation import Head
from seq2see.lens.heads import RoleScore, measure, role_score
from seq2see.lessons import l06_causal_mask as mask
from seq2see.lessons import l07_many_heads as heads
from seq2see.lessons import l08_positions as positions
from seq2see.lessons import l09_recurrence as recurrence
from seq2see.lessons import l10_kv_caching as caching
from seq2see.lessons import l12_meaning as meaning
from seq2see.lessons import l14_overfitting as overfitting
from seq2see.lessons import small
from seq2see.lessons.drawing import style, to_svg
from seq2see.lessons.lesson import Finding, Verdict
from seq2see.lessons.workbench import Workbench
from seq2see.measures.gold import in_halves, to_gold
from seq2see.storybook import HARD


def check(lesson: Any, held: Any, changes: dict[int | tuple[int, ...], dict[str, Any]]) -> None:
    """All of it holds; each finding, by its number, falls with the change that concerns it, alone; and it is drawn."""
    verdict = lesson.judge(held)
    assert verdict.word == "holds" and {finding.word for finding in verdict.findings} == {"holds"}
    concerned = [key if isinstance(key, tuple) else (key,) for key in changes]
    assert sorted(number for numbers in concerned for number in numbers) == list(range(len(verdict.findings)))
    for numbers, change in zip(concerned, changes.values(), strict=True):
        fallen = lesson.judge(replace(held, **change))
        assert tuple(i for i, finding in enumerate(fallen.findings) if finding.word != "holds") == numbers, change
        assert fallen.word == "holds partly"
    with style():
        assert all(table.rows for table in lesson.tables(held))
        assert to_svg(lesson.draw, held, name="x", title="x").startswith("<svg")


def left(verdict: Verdict) -> list[Finding]:
    """What is undecided."""
    return [finding for finding in verdict.findings if finding.word == "not decidable here"]


def test_causal_mask() -> None:
    held = mask.Result(
        steps=300, curves=np.array([[[1.0] * 40], [[0.01] * 40]]), seen=np.array([[0.1], [0.001]]),
        hidden=np.array([5.0]), exact=np.array([[80.0], [0.0]]), chrf=np.array([[95.0], [5.0]]), source="A cat.",
        written=("Un chat.", ""), off=1e-6, seconds=(1.0, 8.0), pieces=10, stretches=10,
    )  # fmt: skip
    check(mask, held, {
        0: {"curves": np.ones((2, 1, 40))},
        1: {"exact": np.array([[80.0], [70.0]])},
        2: {"off": 0.1},
        3: {"seconds": (1.0, 1.0)},
        4: {"stretches": 55},
    })  # fmt: skip


def role(name: str, *, holds: bool = True, head: int = 2, place: float = 0.2) -> RoleScore:
    return RoleScore(Head("cross", 1, head), name, 0.6, 0.5, 0.7, 0.1, place, None, 100, holds, {})


def test_many_heads() -> None:
    held = heads.Result(
        off=1e-15, off_plain=0.9, heads=4, slices=0.9, exact=np.array([[80.0, 84.0], [60.0, 62.0]]),
        pronoun=np.ones((2, 2)), loss=np.ones((2, 2)), roles=tuple(role(name) for name in heads.ROLES), sentences=10,
    )  # fmt: skip
    check(heads, held, {
        0: {"off": 1e-3},
        1: {"slices": 0.25},
        2: {"exact": np.array([[80.0, 80.0], [79.0, 79.0]])},
        **{3 + i: {"roles": tuple(role(name, holds=name != missing) for name in heads.ROLES)}
           for i, missing in enumerate(heads.ROLES)},
    })  # fmt: skip
    known = heads.judge(replace(held, roles=(role("antecedent", holds=False, place=0.9), *held.roles[1:])))
    [who] = left(known)
    assert known.word == "holds" and who.claim == "One head of the encoder or of cross-attention asks who."
    assert "90% (cross-attention)" in who.why and "cross-attention for *what state*, *what action*." in known.why
    assert len(left(heads.judge(replace(held, roles=held.roles[1:])))) == 1, "no sentence has it"
    overlapping = heads.judge(replace(held, exact=np.array([[80.0, 62.0], [70.0, 50.0]]))).findings[2]
    assert overlapping.word == "holds partly"


def test_the_head_that_is_reported_is_the_one_that_the_first_half_chose() -> None:
    later = replace(role("antecedent", head=3), score=0.95)
    for first, said in ((role("antecedent", holds=False), "head 2"), (role("antecedent", place=0.95), "head 3")):
        result = heads.Result(
            off=1e-15, off_plain=0.9, heads=4, slices=0.9, exact=np.array([[80.0], [60.0]]), pronoun=np.ones((2, 1)),
            loss=np.ones((2, 1)), roles=(first, later), sentences=10,
        )  # fmt: skip
        verdict = heads.judge(result)
        [who] = [one for one in verdict.findings if "asks who" in one.claim]
        assert said in who.why and ("*who*." in verdict.why) == (who.word == "holds")


def test_a_supervised_head_is_said_to_be_one_wherever_its_role_is_told() -> None:
    own = tuple(role(name) for name in heads.ROLES)
    result = heads.Result(
        off=1e-15, off_plain=0.9, heads=4, slices=0.9, exact=np.array([[80.0], [60.0]]), pronoun=np.ones((2, 1)),
        loss=np.ones((2, 1)), roles=own, sentences=10,
    )  # fmt: skip
    for supervised in (False, True):
        told = replace(result, roles=tuple(replace(one, supervised=supervised) for one in own))
        labels = [tick.get_text() for tick in heads.draw(told).axes[1].get_yticklabels()]
        shown = [*(one.why for one in heads.judge(told).findings[3:]), *(row[2] for row in heads.tables(told)[1].rows),
                 *labels]
        assert len(shown) == 9 and {"supervised" in text for text in shown} == {supervised}


def test_a_head_is_ranked_by_the_first_half_alone(bench: Workbench) -> None:
    roles, _ = heads.what_heads_look_at(bench)
    assert [list(heads.ROLES).index(one.role) for one in roles] == sorted(
        list(heads.ROLES).index(one.role) for one in roles)
    stories = [story for story in bench.corpus.test if story.kind == "contrast" and story.family in HARD]
    half = in_halves(stories, 12)[0]
    dev = measure(heads.traces_of(bench.model, bench, half), [to_gold(story) for story in half])
    for name in {one.role for one in roles}:
        clear = [mine.score - mine.baseline for one in roles if one.role == name
                 for mine in [role_score(one.head, name, dev, dev)]]
        assert clear == sorted(clear, reverse=True)


def test_positions() -> None:
    held = positions.Result(
        encoder_moved=(0.7, 1e-7), output_moved=(0.5, 1e-7), decoder_moved=np.array([[0.2, 0.3], [0.0, 0.0]]),
        told_apart=(1.0, 0.0), pairs=10, exact=np.array([[80.0], [10.0]]), chrf=np.array([[90.0], [50.0]]),
        source="A cat.", written=("Un chat.", "Chat un."), by_distance=1e-8, shift=1e-8, dots=np.eye(24), dimensions=9,
        overlap=0.01, width=96, read_off=(0.95, 0.1, 0.7), twins=(0.8, 0.0),
        nouns=np.array([[0.3, 0.1], [0.1, 0.1]]), sentences=10,
    )  # fmt: skip
    check(positions, held, {
        0: {"encoder_moved": (0.7, 0.7)},
        1: {"decoder_moved": np.array([[0.2, 0.3], [0.0, 0.1]])},
        2: {"told_apart": (1.0, 0.5)},
        3: {"exact": np.array([[80.0], [60.0]])},
        4: {"shift": 0.1},
        5: {"read_off": (0.5, 0.1, 0.7)},
        6: {"overlap": 0.09},
        7: {"twins": (0.8, 0.8)},
        8: {"nouns": np.array([[0.3, 0.29], [0.1, 0.1]])},
    })  # fmt: skip


def each(*values: Any) -> dict[str, np.ndarray]:
    return dict(zip(recurrence.NETWORKS, map(np.array, values), strict=True))


def test_recurrence() -> None:
    held = recurrence.Result(
        parameters=dict.fromkeys(recurrence.NETWORKS, 200_000),
        influence=each([[1, 0.5, 0.1, 0.001]], [[1, 1, 0.5, 0.1]], [[1, 1, 0.5, 0.1]], [[1.0, 1, 1, 1]]),
        alone=each([80.0], [80.0], [90.0], [90.0]), in_a_row=each([50.0], [60.0], [89.0], [89.0]),
        exact=each([50.0], [50.0], [60.0], [60.0]),
        seconds=each(*[np.linspace(0.01, last, 5) for last in (0.2, 0.3, 0.4, 0.1)]),
        waiting={"elman": 128, "gru": 128, "gru with attention": 128, "transformer": 2},
    )  # fmt: skip
    fallen = held.influence | {"transformer": np.full((1, 4), 0.1)}
    check(recurrence, held, {
        (0, 1): {"influence": held.influence | {"elman": np.array([[1, 1, 1, 0.6]])}},
        2: {"influence": fallen},
        3: {"in_a_row": each([79.0], [79.0], [89.0], [89.0])},
        4: {"waiting": dict.fromkeys(recurrence.NETWORKS, 2)},
        5: {"seconds": each(*[np.linspace(0.01, last, 5) for last in (0.2, 0.1, 0.4, 0.3)])},
    })  # fmt: skip
    one_seed = held.influence | {"elman": np.array([[1, 1, 1, 0.6], [1, 1, 1, 0.01]])}
    assert recurrence.judge(replace(held, influence=one_seed)).findings[0].word == "holds partly"
    for gru, word in ((0.001, "does not hold here"), (1.0, "holds partly")):  # all of it is more than in part
        changed = held.influence | {"gru": np.full((1, 4), gru)}
        assert recurrence.judge(replace(held, influence=changed)).findings[1].word == word
    assert "hardly learnt" not in recurrence.judge(held).findings[3].why
    for elman in (0.0, 50.0):  # what one of them has not learnt it cannot lose
        unlearnt = recurrence.judge(replace(held, exact=each([elman], [5.0], [60.0], [60.0])))
        [falls] = left(unlearnt)
        assert unlearnt.word == "holds" and falls == unlearnt.findings[3]
        assert f"{elman:.0f}% (Elman) and 5% (GRU)" in falls.why and "hardly learnt" in falls.why
    for elman, gru, word in ((0.2, 0.1, "holds partly"), (0.1, 0.3, "holds partly"), (0.1, 0.1, "does not hold here")):
        times = {"seconds": each(*[np.linspace(0.01, last, 5) for last in (elman, gru, 0.4, 0.15)])}
        assert recurrence.judge(replace(held, **times)).findings[5].word == word


def test_caching() -> None:
    held = caching.Result(
        sentences=4, same={"greedy": 1.0, "four beams": 1.0}, off=1e-6, lengths=(8, 512),
        seconds=np.array([[0.001, 0.0011], [0.001, 0.01]]), moved=(0.1, 0.0), pieces=16,
        rows={"encoder self-attention": (14, 28), "decoder self-attention": (16, 136), "cross-attention": (14, 224)},
        encoded=(1, 1),
    )  # fmt: skip
    check(caching, held, {
        0: {"same": {"greedy": 1.0, "four beams": 0.9}},
        1: {"seconds": np.array([[0.001, 0.0011], [0.001, 0.0012]])},
        2: {"seconds": np.array([[0.001, 0.004], [0.001, 0.01]])},
        3: {"moved": (0.1, 0.1)},
        4: {"rows": held.rows | {"encoder self-attention": (14, 14)}},
    })  # fmt: skip


def test_meaning() -> None:
    def shares(*values: float) -> np.ndarray:
        """Of no parameters before and after, and of Q, K, V before and after."""
        return np.repeat(np.array(values).reshape(2, 2, 1, 1), 2, axis=2)

    held = meaning.Result(
        idiom=shares(0, 0, 0, 95), cake=shares(100, 100, 100, 5), literal=shares(90, 90, 90, 90),
        by_heart=np.full((2, 2, 1), 50.0), told=np.array([[0.5], [0.5], [1.0]]), cosine=np.ones((3, 1)),
        said=(("no parameters", "after", "...", "..."),), source="The exam was a piece of cake.", unseen=(20, 20),
    )  # fmt: skip
    check(meaning, held, {
        0: {"told": np.array([[0.5], [1.0], [1.0]])},
        1: {"cake": shares(50, 100, 100, 5)},
        (2, 3): {"idiom": shares(0, 95, 0, 95)},  # as good without: neither "never" nor a difference
        4: {"literal": shares(90, 90, 90, 20)},
    })  # fmt: skip


def test_overfitting() -> None:
    def curves(few: float, dropout: float, middle: float, most: float, *, before: float = 1.0) -> dict[str, np.ndarray]:
        """Over four marks, the same but for the second."""
        return {name: np.array([[last, last * before, last, last]])
                for name, last in zip(overfitting.NAMES, (few, dropout, middle, most), strict=True)}

    held = overfitting.Result(
        pairs={"60": 60, "60, dropout": 60, "250": 250, "all": 1249}, steps=(37, 75, 150, 300),
        seen=curves(0.01, 0.1, 0.1, 0.1), validation=curves(2.0, 1.2, 0.8, 0.2, before=0.7),
        unseen=curves(2.0, 1.2, 0.8, 0.2, before=0.7),
        pronoun=curves(50, 55, 60, 90), exact=curves(1, 2, 20, 70), noun=curves(0.1, 0.1, 0.1, 0.3),
        state=curves(0.1, 0.1, 0.1, 0.3), entropy=curves(0.5, 0.6, 0.7, 0.8),
    )  # fmt: skip
    check(overfitting, held, {
        0: {"seen": curves(0.5, 0.1, 0.1, 0.1)},
        1: {"pronoun": curves(80, 80, 80, 90)},
        2: {"noun": curves(0.3, 0.3, 0.3, 0.3)},
        3: {"unseen": curves(2.0, 1.2, 0.8, 0.2)},
        4: {"unseen": curves(2.0, 2.0, 0.8, 0.2, before=0.7)},
        5: {"unseen": curves(2.0, 1.2, 0.8, 0.2, before=0.09)},
    })  # fmt: skip
    elsewhere = held.unseen | {"60": np.array([[0.5, 1.95, 2.0, 2.0]])}  # lowest where validation does not say to stop
    stopping = overfitting.judge(replace(held, unseen=elsewhere)).findings[3]
    assert stopping.word == "does not hold here" and "after 75 of 300" in stopping.why and "1.95" in stopping.why
    seeds = {"60": np.array([[0.1] * 4, [0.2] * 4]), "all": np.array([[0.2] * 4, [0.4] * 4])}
    overlapping = overfitting.judge(replace(held, state=held.state | seeds)).findings[2]
    assert overlapping.word == "does not hold here"


def test_a_head_is_chosen_in_validation_and_reported_on_other_sentences(
        bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    def scores(*by_head: float) -> Any:
        both = {("encoder", role): np.array([[by_head]]) for role in ("antecedent", "state")}
        return type("Measured", (), {"scores": both})

    halves = iter((scores(0.2, 0.9), scores(0.8, 0.3)))
    monkeypatch.setattr(overfitting, "measure", lambda traces, gold: next(halves))
    task = small.task_of(bench)
    model = small.build(small.Recipe(), vocabulary=len(task.tokenizer))
    assert overfitting.of_attention(model, task, task.test[:1], task.test[1:2])[:2] == (0.3, 0.3)


@pytest.mark.parametrize("evenness, row", [(1.0, [0.25] * 4), (0.0, [1.0, 0, 0, 0]), (0.5, [0.5, 0.5, 0, 0])])
def test_evenness(evenness: float, row: list[float]) -> None:
    assert overfitting.evenness(np.array([row])) == pytest.approx(evenness, abs=1e-6)
