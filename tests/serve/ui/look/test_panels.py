"""The panels of Look in a real browser: each says what `lens` says."""

import math

import numpy as np
import pytest
from looking import TEXT, numbers, panel, settled, thumb

from seq2see.lens import ablate, beam_tree, logit_lens, outlook
from seq2see.lens.arithmetic import arithmetic
from seq2see.lens.embeddings import analogy, contextual, distances, neighbours
from seq2see.lens.what_if import WhatIf
from seq2see.lens.wording import label


def test_the_step_follows_a_row_and_a_temperature_reshapes_it_at_once(look, trace):
    step = panel(look, "Step")
    look.locator(".s2s-texts section:nth-child(2) .s2s-piece").nth(3).click()
    before = trace.target_text[: trace.target[2].end]
    said = step.locator("p").first.inner_text()
    assert said.startswith("Step 3 read “") and f"after “{before}” was written" in said
    items = step.locator(".s2s-next li")
    shown = [float(one.get_attribute("title").split(": ")[-1].split(",")[0]) for one in items.all()][:20]
    np.testing.assert_allclose(shown, [math.exp(one.log_prob) for one in trace.top[3]], atol=6e-5)
    heat = step.get_by_label("Temperature")
    heat.focus()
    for _ in range(4):
        look.keyboard.press("ArrowRight")
    assert step.locator("output").nth(1).inner_text() == "2.00"
    shown = [float(one.get_attribute("title").split(": ")[-1].split(",")[0]) for one in items.all()][:20]
    wanted = outlook(trace, temperature=2.0).top[3]
    np.testing.assert_allclose(shown, [math.exp(one.log_prob) for one in wanted], atol=2e-3)
    heat.fill("12")
    slider = step.get_by_label("Step")
    slider.focus()
    look.keyboard.press("End")
    assert step.locator("output").first.inner_text() == f"{len(trace.target) - 1} of {len(trace.target) - 1}"


def test_a_click_in_the_map_chooses_the_step_of_its_row(look, trace):
    step = panel(look, "Step")
    look.locator(".s2s-scroll canvas").focus()
    for key in ("ArrowDown", "PageUp", "Home", "ArrowDown", "ArrowDown", "ArrowDown"):
        look.keyboard.press(key)
    cell = look.locator(".s2s-mark").bounding_box()
    step.get_by_label("Step").fill("1")
    look.mouse.click(cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2)
    before = trace.target_text[: trace.target[2].end]
    said = step.locator("p").first.inner_text()
    assert said.startswith("Step 3 read “") and f"after “{before}” was written" in said


def test_the_logit_lens_says_what_each_layer_would(look, translator, trace):
    step = panel(look, "Step")
    step.get_by_label("Step").fill("2")
    if step.get_by_role("button", name="What would each layer").count():
        step.get_by_role("button", name="What would each layer").click()
    table = step.locator("table")
    table.wait_for()
    with translator.inside() as (model, tokenizer):
        [found] = logit_lens(model, tokenizer, [trace])
    for layer, (own, top) in enumerate(numbers(table)):
        assert own.endswith(f", {found.ranks[layer, 2] + 1}.")
        assert top.startswith(label(found.top[layer][2][0].text))


def test_the_arithmetic_is_that_of_the_row(look, translator, trace):
    part = panel(look, "Arithmetic")
    thumb(look, "Encoder, layer 0, head 1").click()
    part.get_by_label("Row").fill("2")
    part.get_by_text("(row 2)").wait_for()
    settled(look)
    with translator.inside() as (model, _):
        wanted = arithmetic(model, trace, ("encoder", 0, 1), 2)
    rows = numbers(part.locator("table"))
    columns = np.array([[float(cell) for cell in (row[1], row[2], row[4])] for row in rows])
    expected = np.stack([wanted.products, wanted.products * wanted.scale, wanted.weights], axis=1)
    np.testing.assert_allclose(columns, expected, atol=6e-5)
    assert f"has length {wanted.length:.4f}" in part.inner_text()
    thumb(look, "Decoder, layer 0, head 1").click()
    settled(look)
    part.get_by_text("Decoder, layer 0, head 1").wait_for()
    assert "− ∞" in part.locator("table").inner_text()


def test_a_head_switched_off_changes_what_is_written(look, translator, trace):
    part = panel(look, "Switch off")
    heads = [("cross", 2, 0), ("decoder", 1, 1)]
    for name in ("Cross-attention, layer 2, head 0", "Decoder, layer 1, head 1"):
        part.get_by_role("button", name=f"Switch off {name}").click()
    settled(look)
    part.get_by_text("Without these 2 heads").first.wait_for()
    said = part.locator(".s2s-sideof").all_inner_texts()
    assert trace.target_text.strip() in said[0] and f"log-probability {trace.log_prob:.3f}" in said[0]
    with translator.inside() as (model, tokenizer), ablate(model, heads):
        new = WhatIf(model, tokenizer, "en", "fr", 2).as_it_is(TEXT)
    assert new.target_text.strip() in said[1] and f"log-probability {new.log_prob:.3f}" in said[1]
    assert part.locator(".s2s-sideof mark").count() or new.target_text == trace.target_text
    part.get_by_role("button", name="All on").click()
    assert not part.locator(".s2s-sideof").count()


def test_another_source_stands_beside_the_first(look, translator):
    part = panel(look, "What if")
    part.get_by_role("radio", name="other source").check()
    part.get_by_label("The source, with something changed").fill("The box did not cross the street.")
    part.get_by_role("button", name="Compare").click()
    settled(look)
    other = translator("The box did not cross the street.", source="en", target="fr", num_beams=2)
    sides = part.locator(".s2s-sideof")
    sides.nth(1).wait_for()
    assert other.text.strip() in sides.nth(1).inner_text()
    assert sides.nth(1).locator("mark").first.inner_text().strip() == "box"
    [trace] = translator.look(other)
    sides.nth(1).locator("summary").click()
    cells = [[float(cell) for cell in row] for row in numbers(sides.nth(1).locator("table"))]
    np.testing.assert_allclose(cells, trace.cross["raw"][2, 0], atol=6e-5)


def test_another_beginning_another_search_and_another_model(look, translator):
    part = panel(look, "What if")
    part.get_by_role("radio", name="other beginning").check()
    part.get_by_label("The translation begins with").fill("La boîte")
    look.keyboard.press("Enter")
    settled(look)
    part.locator(".s2s-sideof").nth(1).wait_for()
    begun = translator(TEXT, source="en", target="fr", prefix="La boîte", num_beams=2)
    assert begun.text.strip() in part.locator(".s2s-sideof").nth(1).inner_text()
    part.get_by_role("radio", name="other search").check()
    part.get_by_label("Beams").select_option(label="1, greedy")
    part.get_by_role("button", name="Compare").click()
    settled(look)
    part.locator(".s2s-sideof").nth(1).wait_for()
    greedy = translator(TEXT, source="en", target="fr", num_beams=1)
    assert greedy.text.strip() in part.locator(".s2s-sideof").nth(1).inner_text()
    part.get_by_role("radio", name="other model").check()
    assert part.get_by_label("Model").locator("option").all_inner_texts() == ["other"]
    part.get_by_role("button", name="Compare").click()
    settled(look)
    assert part.locator(".s2s-sideof").count() == 2


def test_the_beam_tree_is_the_search(look, translator):
    part = panel(look, "What if")
    part.get_by_role("radio", name="beam tree").check()
    part.get_by_label("Beams").select_option("4")
    part.get_by_role("button", name="Grow the tree").click()
    settled(look)
    part.locator("svg").wait_for()
    with translator.inside() as (model, tokenizer):
        tree = beam_tree(model, tokenizer, TEXT, num_beams=4, first=translator.tag("fr"))
    assert part.locator("svg text").count() == sum(map(len, tree.steps))
    listed = part.locator("ol li").all_inner_texts()
    assert len(listed) == len(tree.texts)
    step, number = tree.hypotheses[0]
    assert f"score {tree.steps[step][number].score:.4f}" in listed[0]
    assert part.locator("svg text[font-weight]").count() == len(tree.path(step, number))


def test_a_word_in_two_sentences_and_its_neighbours(look, translator):
    part = panel(look, "Words")
    part.get_by_role("textbox", name="The word").fill("cat")
    lines = ["The cat was tired.", "The street is wide and the cat is big."]
    part.get_by_label("Sentences with it").fill("\n".join(lines))
    part.get_by_role("button", name="See the word").click()
    settled(look)
    part.locator("table").wait_for()
    with translator.inside() as (model, tokenizer):
        one, two = (contextual(model, tokenizer, line, "cat", language="en") for line in lines)
        wanted, near = distances(one, two)["cosine"], neighbours(model, tokenizer, "cat")
    assert float(numbers(part.locator("table"))[0][1]) == pytest.approx(wanted[-1], abs=6e-5)
    part.get_by_label("Layer").fill("0")
    assert float(numbers(part.locator("table"))[0][1]) == pytest.approx(wanted[0], abs=6e-5)
    part.get_by_label("Near to").fill("cat")
    part.get_by_role("button", name="Nearest").click()
    settled(look)
    assert part.locator("ol li").first.inner_text().startswith(f"{label(near[0].text)} {near[0].value:.3f}")
    part.get_by_label("less", exact=True).fill("box")
    part.get_by_label("and", exact=True).fill("street")
    part.get_by_role("button", name="Nearest").click()
    settled(look)
    with translator.inside() as (model, tokenizer):
        found, _ = analogy(model, tokenizer, "cat", "box", "street")
    assert part.locator("ol li").first.inner_text().startswith(f"{label(found[0].text)} {found[0].value:.3f}")
    part.get_by_role("textbox", name="The word").fill("dog")
    part.get_by_role("button", name="See the word").click()
    part.get_by_text("the word 'dog' is not in").wait_for()


def test_a_checkpoint_says_what_it_said_then(look, translator, trace):
    part = panel(look, "Training")
    settled(look)
    part.get_by_text("At step 5").wait_for()
    assert part.locator("output").inner_text() == "step 5", "and not the one that is still being written"
    assert "What the run kept: its checkpoints of step 5. A training deletes the older ones" in part.inner_text()
    assert f"of what is shown above {trace.log_prob:.3f}" in part.inner_text()
