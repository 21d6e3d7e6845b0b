"""Faults of the lessons: of figures, of verdicts, and of the page."""

from . import Fault

FAULTS = [
    Fault(
        "a claim holds if any part of it does",
        "lessons/lesson.py",
        "if any(not check.passes and not open_ for",
        "if all(not check.passes and not open_ for",
        tests="tests/lessons/test_framework.py -k all_its_checks",
    ),
    Fault(
        "the worked example forgets the mask",
        "lessons/by_hand.py",
        "np.where(later_NN, -np.inf, scaled_NN) if causal else scaled_NN",
        "scaled_NN",
        tests="tests/lessons/test_measures.py -k masks_what_comes_later",
    ),
    Fault(
        "what was trained is found again though its source has changed",
        "lessons/workbench.py",
        "fingerprint(sources, arguments, torch.__version__)",
        "fingerprint(arguments, torch.__version__)",
        tests="tests/lessons/test_framework.py -k found_again",
    ),
    Fault(
        "a cosine knows the length of one vector",
        "lessons/l01_similarity.py",
        "math.sqrt(dot(x, x) * dot(y, y))",
        "math.sqrt(dot(x, x) * dot(x, x))",
        tests="tests/lessons/test_measures.py -k ignores_lengths",
    ),
    Fault(
        "a lesson's text is markup",
        "lessons/page.py",
        'parts = re.split(r"(`[^`]+`)", html.escape(plain))',
        'parts = re.split(r"(`[^`]+`)", plain)',
        tests="tests/lessons/test_page.py -k escaped",
    ),
    Fault(
        "a picture keeps the colours of light",
        "lessons/drawing.py",
        "for colour, variable in PALETTE.items():",
        "for colour, variable in list(PALETTE.items())[1:]:",
        tests="tests/lessons/test_page.py -k colours",
    ),
    Fault(
        "what a picture refers to is not there",
        "lessons/drawing.py",
        'rf"\\g<1>{name}-"',
        'r"\\g<1>"',
        tests="tests/lessons/test_page.py -k ids_are_unique",
    ),
    Fault(
        "a quick page looks like a real one",
        "lessons/page.py",
        'warning = "" if record["budget"] == "full" else (',
        'warning = "" if record["budget"] else (',
        tests="tests/lessons/test_page.py -k mean_nothing",
    ),
    Fault(
        "the model without a mask has one",
        "lessons/small.py",
        "attention_mask=None if self.causal else open_mask(mask_BT)",
        "attention_mask=None",
        tests="tests/lessons/test_trained_laws.py -k without_the_mask",
    ),
    Fault(
        "without a mask padding is seen too",
        "lessons/small.py",
        "(mask_BT == 0) * torch.finfo(torch.float32).min",
        "(mask_BT == 0) * 0.0",
        tests="tests/lessons/test_trained_laws.py -k without_the_mask",
    ),
    Fault(
        "heads are added with each other's part of the projection",
        "lessons/l07_many_heads.py",
        "per_head_HTE[head] @ parts[head].T",
        "per_head_HTE[head] @ parts[-head].T",
        tests="tests/lessons/test_trained_laws.py -k side_by_side",
    ),
    Fault(
        "a recurrent decoder starts from padding",
        "lessons/recurrent.py",
        "last_B = mask_BS.sum(1) - 1",
        "last_B = mask_BS.sum(1) * 0 + mask_BS.shape[1] - 1",
        tests="tests/lessons/test_trained_laws.py -k left_to_right",
    ),
    Fault(
        "a model that never says the idiom and one that does are judged alike",
        "lessons/l12_meaning.py",
        '"never": [Check(plain["after"]',
        '"never": [Check(plain["before"]',
        tests="tests/lessons/test_claims.py -k l12_meaning",
    ),
    Fault(
        "variants of a sentence are counted as so many sentences",
        "lessons/interval.py",
        "groups or [str(i) for i in range(len(values))]",
        "[str(i) for i in range(len(values))]",
        tests="tests/lessons/test_framework.py -k counts_variants",
    ),
    Fault(
        "what follows a word does not stand near it",
        "lessons/l11_words.py",
        "count_NN[other, one] += 1",
        "count_NN[other, one] += 0",
        tests="tests/lessons/test_measures.py -k both_sides",
    ),
    Fault(
        "shuffled values stand in order",
        "lessons/l16_cross_attention.py",
        'return other_values(model, change, kinds=["cross"])',
        "return other_values(model, change, kinds=[])",
        tests="tests/lessons/test_measures.py -k another_order",
    ),
    Fault(
        "the token just read is counted twice",
        "lessons/l17_last_vector.py",
        "row[S : S + t].sum(), row[:S]",
        "row[S : S + t + 1].sum(), row[:S]",
        tests="tests/lessons/test_measures.py -k state_comes_from",
    ),
    Fault(
        "a head carries the pronoun if its interval does not exclude it",
        "lessons/l15_it.py",
        '"sufficient": [Check(f.turned.low,',
        '"sufficient": [Check(f.turned.high,',
        tests="tests/lessons/test_claims.py -k l15_it",
    ),
    Fault(
        "lessons: a sentence says nan",
        "lessons/interval.py",
        (
            '    if isinstance(value, float | np.floating) and math.isnan(value):\n'
            '        return "–"\n'
            '    return format'
        ),
        "    return format",
        tests="tests/lessons/test_framework.py -k take_figures",
    ),
    Fault(
        "lessons: the look's head is the first, whatever was found",
        "lessons/l05_worked_example.py",
        'look=Look(SOURCE, "decoder", 0, head)',
        'look=Look(SOURCE, "decoder", 0, 1)',
        tests="tests/lessons/test_measures.py -k where_there_is_one",
    ),
    Fault(
        "lessons: a model of one head has a second",
        "lessons/l05_worked_example.py",
        "head = min(1, bench.model.config.decoder_attention_heads - 1)",
        "head = 1",
        tests="tests/lessons/test_measures.py -k where_there_is_one",
    ),
    Fault(
        "lessons: a named run that is not finished is trained",
        "seq2see/cli/lessons.py",
        "if run and not is_finished(folder):",
        "if run and not folder:",
        tests="tests/lessons/test_page.py -k not_finished",
    ),
    Fault(
        "lessons: a run of another corpus is measured",
        "seq2see/cli/lessons.py",
        'if path != "storybook" or source != "en"',
        'if source != "en"',
        tests="tests/lessons/test_page.py -k another_corpus",
    ),
    Fault(
        "lessons: the corpus is of any seed",
        "lessons/workbench.py",
        "generate(seed=seed, train_size",
        "generate(seed=0, train_size",
        tests="tests/lessons/test_framework.py -k trained_on",
    ),
    Fault(
        "lessons: the page is written piece by piece",
        "seq2see/cli/lessons.py",
        "atomic_write(html, page(record))",
        'html.write_text(page(record), "utf-8")',
        tests="tests/lessons/test_page.py -k whole_or_not",
    ),
    Fault(
        "lessons: a stop of the Tab key has no name",
        "lessons/page.js",
        'role: "group", "aria-label": nameOf(target)',
        'role: "group"',
        tests="tests/lessons/test_page.py -k browser_shows",
    ),
    Fault(
        "lessons: what is undecided counts against the claim",
        "lessons/lesson.py",
        "not check.passes and not open_ for",
        "not check.passes for",
        tests="tests/lessons/test_framework.py -k all_its_checks",
    ),
    Fault(
        "lessons: heads without a role cost nothing if there are none",
        "lessons/l13_heads_and_layers.py",
        "f.roled.low - f.unroled.high",
        "f.roled.low - max(0.0, f.unroled.high)",
        tests="tests/lessons/test_claims.py -k heads_and_layers",
    ),
    Fault(
        "lessons: one matrix that catches up is as good as none",
        "lessons/l02_attention.py",
        "(three - mean[way])[good].min()",
        "(three - mean[way])[good].max()",
        tests="tests/lessons/test_claims.py -k catches_up",
    ),
    Fault(
        "lessons: every layer reaches wider if one does",
        "lessons/l13_heads_and_layers.py",
        "Check(min((step.low for step in of)",
        "Check(max((step.low for step in of)",
        tests="tests/lessons/test_claims.py -k heads_and_layers",
    ),
    Fault(
        "lessons: a head carries the pronoun though its loss costs nothing",
        "lessons/l15_it.py",
        '"necessary": [Check(f.cost.low,',
        '"necessary": [Check(f.cost.value,',
        tests="tests/lessons/test_claims.py -k l15_it",
    ),
    Fault(
        "small models are trained at the peak to the end",
        "lessons/small.py",
        "min(step / (WARM_UP * steps), (steps - step + 1) / ((1 - WARM_UP) * steps))",
        "min(step / (WARM_UP * steps), 1)",
        tests="tests/lessons/test_trained_laws.py -k learning_rate",
    ),
    Fault(
        "each batch counts alike in the test loss",
        "lessons/small.py",
        'tokens = int((inputs["labels"] != -100).sum())',
        "tokens = 1",
        tests="tests/lessons/test_trained_laws.py -k test_loss",
    ),
    Fault(
        "lessons: without positions the decoder keeps its own",
        "lessons/small.py",
        "for side in (self.network.model.encoder, self.network.model.decoder):",
        "for side in (self.network.model.encoder,):",
        tests="tests/lessons/test_trained_laws.py -k knows_the_order",
    ),
    Fault(
        "lessons: every epoch has the same order",
        "lessons/small.py",
        (
            '            done += 1\n'
            '        epoch += 1\n'
        ),
        (
            '            done += 1\n'
        ),
        tests="tests/lessons/test_trained_laws.py -k each_epoch",
    ),
    Fault(
        "lessons: inside is looked into where heads were chosen",
        "lessons/held_out.py",
        "some = traces(bench)[1][:",
        "some = traces(bench)[0][:",
        tests="tests/lessons/test_measures.py -k did_not_choose",
    ),
    Fault(
        "lessons: a placeholder shows the whole interval as its value",
        "lessons/interval.py",
        'return value if low == value == high else f"{value} ({low} to {high})"',
        "return value",
        tests="tests/lessons/test_framework.py -k take_figures",
    ),
    Fault(
        "lessons: a moved threshold is not said to be one",
        "lessons/lesson.py",
        'was = "" if self.was is None else',
        'was = "" if True else',
        tests="tests/lessons/test_framework.py -k was_moved",
    ),
    Fault(
        "lessons: what passes through a module is kept for ever",
        "lessons/workbench.py",
        (
            '            handle.remove()\n'
        ),
        (
            '            pass\n'
        ),
        tests="tests/lessons/test_measures.py -k captured",
    ),
]
