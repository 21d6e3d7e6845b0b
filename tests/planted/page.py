"""Slips in the page and in pictures: what is escaped, masked and stated.  JavaScript is changed as it is read."""

import unicodedata

from . import fault

PAGE = "lens/test_page.py"


@fault("lens.explorer.asset", PAGE)
def the_texts_in_a_template_are_markup(original, name):
    return original(name).replace("ESCAPES[mark])", "mark)")


@fault("lens.explorer.asset", PAGE)
def a_masked_cell_is_a_weight(original, name):
    return original(name).replace("column.pieces[0] > row.pieces.at(-1)", "column.pieces[0] > row.pieces.at(-1) + 1")


@fault("lens.explorer.as_data", "lens/test_show.py")
def a_text_can_end_the_script_element(original, value):
    return original(value).replace("\\u003c", "<")


@fault("lens.wording.printable", "lens/test_show.py")
def marks_that_turn_a_line_round_reach_the_terminal(original, text):
    return "".join(c if unicodedata.category(c) == "Cf" else original(c) for c in text)


@fault("lens.trust.Trust.of", "lens/test_trust.py", "cli/test_look.py")
def a_map_is_given_the_figures_of_the_other_rows(original, self, view, rows, name):
    return original(self, view, {"predicts": "reads", "reads": "predicts"}[rows], name)


@fault("lens.probabilities.log_sums", "lens/test_calibration.py")
def the_temperatures_of_the_slider_are_reversed(original, trace):
    return original(trace)[:, ::-1]
