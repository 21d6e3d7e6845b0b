"""Slips in looking inside: interventions, views, word links, calibration and faithfulness."""

from dataclasses import replace

from . import fault

ALIGNMENT, INTERVENTIONS, TRUST = "lens/test_alignment_choice.py", "lens/test_interventions.py", "lens/test_trust.py"


@fault("lens.hooks.AttentionSite.columns", INTERVENTIONS)
def the_columns_of_a_head_are_those_of_another(original, self, heads):
    return original(self, [self.heads - 1 - head for head in heads])


@fault("lens.interventions.real_positions", INTERVENTIONS)
def the_mean_of_a_head_counts_padding(original, sequences):
    return original(sequences) | True


@fault("lens.interventions.patch", INTERVENTIONS)
def a_patch_reaches_every_position(original, model, donor, *, where=None, **what):
    return original(model, donor, **what)


@fault("lens.interventions.steer", "lens/test_what_if.py")
def a_temperature_makes_a_head_sharper(original, model, *, temperatures=None, weights=None):
    inverse = {head: 1 / value if value > 0 else value for head, value in (temperatures or {}).items()}
    return original(model, temperatures=inverse, weights=weights)


@fault("lens.by_words.by_units", "lens/test_by_words.py")
def the_row_of_a_word_is_that_of_its_first_token(original, maps, rows, columns):
    single = [replace(row, pieces=(number,)) for number, row in enumerate(rows)]
    return original(maps[..., [row.pieces[0] for row in rows], :], single, columns)


@fault("lens.attention_blocks.halved", "lens/test_views.py")
def rollout_forgets_the_residual_of_the_target(original, trace):
    layers = original(trace)
    return replace(layers, residual=0 * layers.residual)


@fault("lens.files.save", "lens/test_files.py")
def a_saved_trace_is_rounded(original, trace, path):
    return original(replace(trace, log_probs=trace.log_probs.astype("float16").astype("float32")), path)


@fault("lens.calibration.unsmoothed", "lens/test_calibration.py")
def smoothing_is_not_shared_among_the_vocabulary(original, log_probs_NV, smoothing):
    return original(log_probs_NV, smoothing * log_probs_NV.shape[-1])


@fault("measures.calibration_fitting.TopTokenFit.temperature", "measures/test_calibration_fitting.py")
def the_fitted_temperature_is_the_inverse_one(original, self):
    return 1 / original(self)


@fault("lens.intervals.group_numbers", ALIGNMENT, TRUST)
def variants_of_a_sentence_count_as_independent(original, count, groups):
    return original(count, None)


@fault("lens.intervals.error_rate", ALIGNMENT)
def the_alignment_error_counts_possible_links_as_sure(original, counts_4):
    return original(counts_4[..., [0, 1, 3, 3]])


@fault("lens.alignment_choice.AlignmentChoice.links", ALIGNMENT)
def links_have_source_and_target_exchanged(original, self, trace):
    return frozenset((target, source) for source, target in original(self, trace))


@fault("lens.faithfulness.kendall", TRUST)
def tau_compares_words_below_the_noise_floor(original, maps, drops, *, least=0.0):
    return original(maps, drops)


@fault("lens.faithfulness.measure_trust", TRUST)
def the_best_map_is_chosen_where_it_is_reported(original, dev, test, *, dev_gold, test_gold, **how):
    test = list(test)
    return original(test, test, dev_gold=test_gold, test_gold=test_gold, **how)
