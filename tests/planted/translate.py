"""Slips in decoding, scoring, the engines, and texts of several sentences."""

from dataclasses import replace

from . import fault

DECODING, LONG_TEXTS = "translate/test_decoding.py", "translate/test_long_texts.py"


@fault("translate.torch_engine.ForcePrefix.__call__", DECODING)
def only_the_first_id_of_a_prefix_is_forced(original, self, input_ids, scores):
    return original(self, input_ids, scores) if input_ids.shape[1] == 1 else scores


@fault("translate.torch_engine.GumbelSampler.__init__", DECODING)
def rows_sample_from_one_generator(original, self, rows, options):
    original(self, rows, options)
    self.generators = self.generators[:1] * len(rows)


@fault("translate.scoring.score_targets", "translate/test_scoring.py")
def a_score_counts_the_language_tag(original, *inputs, given, **how):
    return original(*inputs, given=0, **how)


@fault("translate.ctranslate2_engine.CTranslate2Engine.translate", "translate/test_ctranslate2.py")
def ctranslate2_ignores_the_length_penalty(original, self, sources, options, **how):
    return original(self, sources, replace(options, length_penalty=1.0), **how)


@fault("translate.decoding.GenerationDefaults.source_tokens", LONG_TEXTS)
def a_sentence_longer_than_any_in_training_is_not_split(original, self):
    return self.positions


@fault("translate.decoding.GenerationDefaults.source_sentences", LONG_TEXTS)
def a_sentence_that_refers_back_stands_alone(original, self):
    return 1


@fault("translate.decoding.GenerationDefaults.resolve", DECODING)
def the_language_asked_for_is_not_forced(original, self, *options, first=None):
    return original(self, *options)


@fault("translate.measurements.Measurements.trust", "cli/test_look.py")
def trust_of_other_weights_is_shown(original, self):
    from seq2see.lens.trust import FILE, Trust

    return Trust.load(self.folder / FILE) if (self.folder / FILE).is_file() else None
